namespace Voron.Tests;

/// <summary>
/// Tests that measure or change what belongs to the process: no other test runs at the same time. Each class says what that is.
/// </summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
