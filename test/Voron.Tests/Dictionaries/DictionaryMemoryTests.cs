namespace Voron.Tests.Dictionaries;

/// <summary>The memory of dictionaries counts towards the limit of the environment, and none of it outlives the environment.</summary>
/// <remarks>
/// Alone, because it counts the managed memory of the process. That of the runtime and of other tests comes and goes by some MiB; without a limit,
/// each dictionary takes 0.7.
/// </remarks>
[Collection(nameof(Alone))]
public sealed class DictionaryMemoryTests : IDisposable
{
    private const int Trees = 60;
    private const long MiB = 1 << 20;

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Many_trees_with_dictionaries_stay_within_the_limit()
    {
        var options = CompressionKit.Options();
        options.MemoryLimitBytes = 16 * MiB;
        var environment = StorageEnvironment.Open(_directory.Path, options);
        var before = Managed();
        for (var tree = 0; tree < Trees; tree++)
        {
            environment.Compress(ValueCompression.Fast, $"{tree}");
            environment.Fill(0, 100, tree: $"{tree}");
            environment.Train($"{tree}").Should().BeTrue();
            environment.Fill(100, 20, tree: $"{tree}");
        }

        for (var tree = 0; tree < Trees; tree++)
            Read(environment, $"{tree}");
        for (var tree = 0; tree < Trees; tree++)
            environment.Fill(120, 20, tree: $"{tree}");
        Managed().Should().BeLessThan(before + 12 * MiB);
        environment.GetStatistics().NativeMemoryBytes.Should().BeLessThan(16 * MiB);
        environment.AssertSound();

        var account = environment.Internals.Engine.Memory.Account;
        environment.Dispose();
        account.Bytes.Should().Be(0, "a closed environment keeps none of them while it is referenced");
    }

    [Fact]
    public void Dictionaries_that_were_dropped_are_forgotten()
    {
        using var environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options());
        environment.Compress(ValueCompression.Fast);
        Round(environment, 0);
        var before = Managed();
        for (var round = 1; round < 40; round++)
            Round(environment, round);
        Managed().Should().BeLessThan(before + 10 * MiB);
    }

    // Each round has other phrases, so each has a dictionary of its own.
    private static void Round(StorageEnvironment environment, int round)
    {
        var phrases = Enumerable.Range(0, 40).Select(phrase => CompressionKit.Noise(1000 * round + phrase, 200)).ToArray();
        environment.Write(writing =>
        {
            var items = writing.OpenTree(CompressionKit.TreeName);
            for (var i = 0; i < 400; i++)
                items.Put(CompressionKit.Key(i), [.. phrases[i % 40], .. phrases[(i + 3) % 40], .. phrases[(i + 6) % 40]]);
        });
        environment.Train().Should().BeTrue();
        environment.Recompress();
        Read(environment, CompressionKit.TreeName);
    }

    private static void Read(StorageEnvironment environment, string tree)
    {
        using var reading = environment.BeginRead();
        reading.OpenTree(tree).Get(CompressionKit.Key(0)).Should().NotBeNull();
    }

    private static long Managed()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return GC.GetTotalMemory(forceFullCollection: true);
    }
}
