using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Reading allocates nothing but the copies that are asked for.</summary>
[Quick]
public sealed class ReadAllocationTests
{
    private const int Entries = 2_000;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Ranges_and_lookups_of_all_forms_allocate_nothing(bool inWriteTransaction)
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using (var filling = environment.BeginWrite())
        {
            var tree = filling.CreateTree("t");
            for (var i = 0; i < Entries; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 100));
            filling.Commit();
        }

        using var reading = environment.BeginRead();
        using var writing = environment.BeginWrite();
        var read = inWriteTransaction ? writing.OpenTree("t").ToTree() : reading.OpenTree("t");
        byte[] key = FaultTestKit.Key(1_234), prefix = "0012"u8.ToArray(), high = [0xFF, 0xFF], buffer = new byte[100];

        // The first pass makes the cursors, and the methods are compiled.
        var entries = ReadAll(read, key, prefix, high, buffer);
        var again = 0L;
        ManagedAllocation.Least(() => again = ReadAll(read, key, prefix, high, buffer)).Should().Be(0);
        again.Should().Be(entries).And.BeGreaterThan(10 * Entries);
        read.Get(key).Should().Equal(FaultTestKit.Value(1_234, 100));
    }

    private static long ReadAll(Tree tree, byte[] key, byte[] prefix, byte[] high, byte[] buffer)
    {
        var bytes = Read(tree.GetEntries()) + Read(tree.GetEntries().Reverse()) + Read(tree.Prefix(prefix)) + Read(tree.Prefix(high))
            + Read(tree.Range(KeyRange.From(key))) + Read(tree.Range(KeyRange.After(key)).Reverse()) + Read(tree.Range(KeyRange.Before(key)))
            + Read(tree.Range(KeyRange.Through(key).Prefix(prefix)).Reverse().Skip(3).Take(50).Reverse().Skip(1).Take(40))
            + Read(tree.GetEntries().Skip(100).Take(300)) + Read(tree.Range(KeyRange.AfterPrefix(prefix).Before(high)));
        bytes += tree.GetEntries().Count() + tree.Range(KeyRange.After(prefix)).Count() + tree.Prefix(prefix).Skip(3).Count();
        bytes += tree.Prefix(prefix).Any() ? 1 : 0;
        bytes += tree.TryGetFirst(out var entry) ? entry.Value.Length : 0;
        bytes += tree.TryGetLast(out entry) ? entry.Value.Length : 0;
        bytes += tree.TryGetFloor(key, out entry) ? entry.Value.Length : 0;
        bytes += tree.TryGetCeiling(high, out entry) ? entry.Value.Length : 0;
        bytes += tree.TryGetEntry(key, out entry) ? entry.Value.Length : 0;
        bytes += tree.TryGetLength(key, out var length) ? length : 0;
        bytes += tree.TryCopyTo(key, buffer, out var written) ? written : 0;
        bytes += tree.TryGet(key, out var value) ? value.Length : 0;
        return bytes;
    }

    private static long Read(TreeRange range)
    {
        var bytes = 0L;
        foreach (var entry in range)
            bytes += entry.Key.Length + entry.Value.Length;
        return bytes;
    }
}
