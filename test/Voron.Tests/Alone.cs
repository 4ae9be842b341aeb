namespace Voron.Tests;

/// <summary>Tests that measure the memory of the process, or long work, or want addresses in a row: no other test runs beside them.</summary>
[CollectionDefinition(nameof(Alone), DisableParallelization = true)]
public sealed class Alone;
