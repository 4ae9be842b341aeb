using System.Text;
using Voron.Simulation.Harness;

namespace Voron.Tests.Compaction;

/// <summary>Environments with many free pages, and the content that they must have.</summary>
internal sealed class CompactionKit(int seed)
{
    private readonly Random _random = new(seed);

    /// <summary>The entries of each tree: the length of a value, and the number from which its bytes are made.</summary>
    public SortedDictionary<string, SortedDictionary<string, (int Length, int Number)>> Trees { get; } = [];

    public static StorageOptions Options => new() { FlushThresholdBytes = 4 << 20, BackgroundFlush = false };

    /// <summary>Puts entries with random keys.</summary>
    public void Put(StorageEnvironment environment, string tree, int count, Func<Random, int> length)
    {
        if (!Trees.TryGetValue(tree, out var entries))
            Trees[tree] = entries = [];
        while (count > 0)
        {
            using var transaction = environment.BeginWrite();
            var target = transaction.CreateTree(tree);
            for (long bytes = 0; count > 0 && bytes < 8 << 20; count--)
            {
                var key = $"{_random.Next():x8}-{count}";
                var value = (length(_random), _random.Next());
                target.Put(Encoding.UTF8.GetBytes(key), Bytes(value));
                entries[key] = value;
                bytes += value.Item1;
            }

            transaction.Commit();
        }
    }

    /// <summary>Deletes a part of the entries of a tree, at random.</summary>
    public void Delete(StorageEnvironment environment, string tree, double part)
    {
        var doomed = Trees[tree].Keys.Where(_ => _random.NextDouble() < part).ToArray();
        foreach (var some in doomed.Chunk(20_000))
        {
            using var transaction = environment.BeginWrite();
            var target = transaction.OpenTree(tree);
            foreach (var key in some)
            {
                Assert.True(target.Delete(Encoding.UTF8.GetBytes(key)));
                Trees[tree].Remove(key);
            }

            transaction.Commit();
        }
    }

    /// <summary>Checks the pages and the content of an environment.</summary>
    public void Check(StorageEnvironment environment)
    {
        environment.Verify().Problems.Should().BeEmpty();
        using var transaction = environment.BeginRead();
        foreach (var (name, entries) in Trees)
        {
            var tree = transaction.OpenTree(name);
            using var expected = entries.GetEnumerator();
            foreach (var entry in tree.GetEntries())
            {
                if (!expected.MoveNext())
                    Assert.Fail($"Tree {name} should have {entries.Count} entries, and has more.");
                if (Encoding.UTF8.GetString(entry.Key) != expected.Current.Key || !entry.Value.SequenceEqual(Bytes(expected.Current.Value)))
                    Assert.Fail($"Tree {name} should have {expected.Current}, but has {Encoding.UTF8.GetString(entry.Key)}.");
            }

            expected.MoveNext().Should().BeFalse();
        }
    }

    public static byte[] Bytes((int Length, int Number) value) => SeededBytes.Make(value.Number, value.Length);
}
