using System.Buffers.Binary;

namespace Voron.Tests.Loading;

/// <summary>Helpers shared by the tests of bulk loads.</summary>
internal static class LoadTestKit
{
    /// <summary>Checks that a tree has exactly these entries, and that the environment is sound.</summary>
    public static void Check(StorageEnvironment environment, SortedDictionary<byte[], byte[]> model, string name = "t")
    {
        using (var reading = environment.BeginRead())
        {
            var tree = reading.OpenTree(name);
            tree.Count.Should().Be(model.Count);
            using var cursor = tree.OpenCursor();
            var has = cursor.SeekFirst();
            foreach (var (key, value) in model)
            {
                if (!has || !cursor.Key.SequenceEqual(key) || !cursor.Value.SequenceEqual(value))
                    Assert.Fail($"The entry {Convert.ToHexString(key)} is missing or different.");
                has = cursor.MoveNext();
            }

            has.Should().BeFalse();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    public static IEnumerable<(ReadOnlyMemory<byte>, ReadOnlyMemory<byte>)> Sequence(IEnumerable<KeyValuePair<byte[], byte[]>> entries) =>
        entries.Select(entry => ((ReadOnlyMemory<byte>)entry.Key, (ReadOnlyMemory<byte>)entry.Value));

    public static SortedDictionary<byte[], byte[]> Entries(Random random, int count, int longest)
    {
        var entries = new SortedDictionary<byte[], byte[]>(Comparer<byte[]>.Create(static (left, right) => left.AsSpan().SequenceCompareTo(right)));
        while (entries.Count < count)
        {
            var key = new byte[random.Next(6, 40)];
            BinaryPrimitives.WriteInt32BigEndian(key, random.Next(1000));
            random.NextBytes(key.AsSpan(4));
            var value = new byte[random.Next(longest)];
            random.NextBytes(value);
            entries[key] = value;
        }

        return entries;
    }
}
