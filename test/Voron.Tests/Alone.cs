namespace Voron.Tests;

/// <summary>
/// Tests that measure the memory of the process or long work, or need contiguous addresses: no other test runs at the same time.
/// </summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
