using Voron.Simulation.Harness;
using Voron.Torture.Recorded;

namespace Voron.Torture.Memory;

/// <summary>Two tables and a tree, whose changes a feed records: all of their rows and entries are replaced by each change.</summary>
internal sealed class WholeRecordedStore : WholeTree
{
    private const int Keys = 24;
    private const int DeletedOneIn = 5;

    // Beside a flusher, each opening trims the feed once, and cuts what earlier transactions have recorded.
    private const long MaxFeedBytes = 4 << 10;

    public override void Change(WriteTransaction writing)
    {
        var tree = RecordedStore.Create(writing, MaxFeedBytes);
        tree.DeleteRange(KeyRange.From(RecordedStore.KeyOf(Keys / 2)));
        for (var key = 0; key < Keys; key++)
        {
            var number = NumberOf(writing.TransactionId, key);
            RecordedStore.Upsert(writing, new RecordedRow(key, number));
            tree.Put(RecordedStore.KeyOf(key), RecordedRow.ValueOf(number));
        }

        for (var key = 0; key < Keys; key += DeletedOneIn)
            RecordedStore.Delete(writing, key);

        // Waiting puts are applied by the first read: a failure shows here.
        _ = tree.Count;
    }

    protected override void Check(ReadTransaction reading, long by, string who)
    {
        var isThere = reading.TryOpenTree(RecordedStore.TreeName, out var tree);
        BrokenPromiseException.Require(isThere == (by != 0), $"{who}: the recorded tree is {(isThere ? "there" : "missing")}.");
        if (!isThere)
            return;
        var rows = RecordedStore.ReadRows(reading);
        for (var key = 0; key < Keys; key++)
        {
            var hasRow = rows.TryGetValue(key, out var number);
            var isRight = hasRow == (key % DeletedOneIn != 0) && (!hasRow || number == NumberOf(by, key))
                && tree.TryGet(RecordedStore.KeyOf(key), out var value) && RecordedRow.NumberOf(value) == NumberOf(by, key);
            BrokenPromiseException.Require(isRight, $"{who}: row or entry {key} differs from the write of transaction {by}.");
        }

        BrokenPromiseException.Require(tree.Count == Keys, $"{who}: the recorded tree has {tree.Count} entries of {Keys}.");
    }

    private static int NumberOf(long id, int key) => (int)((id * 31) + key);
}
