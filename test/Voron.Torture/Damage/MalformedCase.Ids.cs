using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Damage;

/// <content>Id trees.</content>
internal sealed partial class MalformedCase
{
    private void ReadIds(ReadTransaction reading, string name)
    {
        var tree = default(IdTree);
        if (FixedContent.IsName(name) || ValueSetContent.IsName(name) || !IsOfKind(() => reading.TryOpenIdTree(name, out tree)))
            return;
        _ = tree.GetStatistics();
        var entries = EntriesOf(name);
        for (var i = 0; i < 8; i++)
        {
            var (key, id) = KnownId(entries);
            Try(() => tree.CountOf(key));
            Try(() => tree.TryGetPayload(key, id, out _));
            Try(() => WalkIds(tree, key, id));
        }

        Try(() => ScanIds(tree, forward: true));
        Try(() => ScanIds(tree, forward: false));
        Try(() => QueryIds(tree, KnownId(entries).Key, KnownId(entries).Key));
    }

    private void WalkIds(IdTree tree, byte[] key, long id)
    {
        using var ids = tree.OpenIds(key);
        var found = random.Next(2) == 0 ? ids.Seek(id) : ids.SeekForPrevious(id);
        var last = found ? ids.Id : 0;
        for (var step = random.Next(300); found && step > 0; step--)
        {
            var forward = random.Next(3) > 0;
            found = forward ? ids.MoveNext() : ids.MovePrevious();
            if (!found)
                break;
            CheckStep(last, ids.Id, forward);
            last = ids.Id;
        }
    }

    // A walk over ids that do not rise might never end, and would add to a set what cannot be read again.
    private static void CheckStep(long from, long to, bool forward) =>
        BrokenPromiseException.Require(forward ? to > from : to < from, $"id {to} follows id {from}, {(forward ? "forward" : "backward")}");

    private void ScanIds(IdTree tree, bool forward)
    {
        using var keys = tree.OpenCursor();
        while (forward ? keys.MoveNext() : keys.MovePrevious())
        {
            Touch(keys.Key);

            // One set may lead nowhere while the later ones are sound.
            var at = keys;
            Try(() =>
            {
                using var ids = at.OpenIds();
                if (forward)
                    ScanForward(ids);
                else
                    ScanBackward(ids);
            });
        }
    }

    private static void ScanForward(IdCursor ids)
    {
        var found = new long[500];
        var last = -1L;
        for (int count; (count = ids.Fill(found, new byte[found.Length])) > 0;)
        {
            foreach (var id in found.AsSpan(0, count))
            {
                CheckStep(last, id, forward: true);
                last = id;
            }
        }
    }

    private static void ScanBackward(IdCursor ids)
    {
        for (long? last = null; ids.MovePrevious(); last = ids.Id)
        {
            if (last is { } from)
                CheckStep(from, ids.Id, forward: false);
        }
    }

    private static void QueryIds(IdTree tree, byte[] left, byte[] right)
    {
        using var both = IdQuery.And([tree.Query(left), tree.Query(right)]);
        both.CountRest();
        using var any = IdQuery.AndNot(IdQuery.Or([tree.Query(left), tree.Query(right)]), tree.Query(left));
        any.CountRest();
    }

    private void ChangeIds(WriteTransaction writing, string name)
    {
        var tree = default(WriteIdTree);
        if (!IsOfKind(() => writing.TryOpenIdTree(name, out tree)))
            return;
        var entries = EntriesOf(name);
        var (key, id) = KnownId(entries);
        switch (random.Next(10))
        {
            case 0:
                for (var i = 0; i < 50; i++)
                    tree.Add(KnownId(entries).Key, random.NextInt64(5_000), (byte)i);
                break;
            case 1:
                for (var i = 0; i < 50; i++)
                    tree.Remove(key, KnownId(entries).Id);
                break;
            case 2:
                tree.AddMany(key, [.. Enumerable.Range(random.Next(10_000), 300).Select(i => (long)i * 3)]);
                break;
            case 3:
                tree.RemoveMany(key, [.. Enumerable.Range(0, 300).Select(i => id + i)]);
                break;
            case 4:
                tree.RemoveAll(key);
                break;
            case 5:
                tree.DeleteRange(random.Next(2) == 0 ? KeyRange.From(key) : KeyRange.From(key).Before(KnownId(entries).Key));
                break;
            case 6:
                var savepoint = writing.CreateSavepoint();
                tree.Add(key, id, 9);
                tree.RemoveAll(KnownId(entries).Key);
                savepoint.Rollback();
                break;
            case 7:
                writing.DeleteTree(name);
                break;
            case 8:
                tree.Clear();
                break;
            default:
                tree.Contains(key, id);
                break;
        }
    }

    private (byte[] Key, long Id) KnownId(IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        if (entries.Count == 0 || random.Next(8) == 0)
            return (NewKey(), random.NextInt64(10_000));
        var joined = entries[random.Next(entries.Count)].Key;
        return joined.Length <= sizeof(long) ? (NewKey(), 1) : (IdEntries.KeyOf(joined).ToArray(), Math.Max(0, IdEntries.IdOf(joined)));
    }
}
