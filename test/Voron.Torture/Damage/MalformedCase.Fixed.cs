using Voron.Torture.Crashes;
using Voron.Trees.Pages;

namespace Voron.Torture.Damage;

/// <content>Fixed-size trees.</content>
internal sealed partial class MalformedCase
{
    private void ReadFixed(ReadTransaction reading, string name)
    {
        var tree = default(FixedTree);
        if (IdTreeContent.IsName(name) || ValueSetContent.IsName(name) || !IsOfKind(() => reading.TryOpenFixedTree(name, out tree)))
            return;
        _ = tree.GetStatistics();
        var entries = EntriesOf(name);
        for (var i = 0; i < 8; i++)
        {
            var key = KnownKey(entries);
            Try(() => Touch(tree.TryGet(key, out var value) ? value : default));
            Try(() => tree.TryCopyTo(key, new byte[Math.Max(0, tree.ValueSize)]));
            Try(() => Touch(tree.TryGetFloor(key, out _, out var value) ? value : default));
            Try(() => Touch(tree.TryGetCeiling(key + 1, out _, out var value) ? value : default));
        }

        Try(() => GetManyFixed(tree, entries));
        Try(() => ScanFixed(tree, forward: true));
        Try(() => ScanFixed(tree, forward: false));
        Try(() => SeekFixed(tree, entries));
    }

    private static void GetManyFixed(FixedTree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        long[] keys = [.. entries.Take(50).Select(entry => ArrayKey.FromBytes(entry.Key))];
        var values = new byte[keys.Length * tree.ValueSize];
        tree.GetMany(keys, values, new bool[keys.Length]);
    }

    private static void ScanFixed(FixedTree tree, bool forward)
    {
        using var cursor = tree.OpenCursor();
        while (forward ? cursor.MoveNext() : cursor.MovePrevious())
            Touch(cursor.Value);
    }

    private void SeekFixed(FixedTree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        using var cursor = tree.OpenCursor();
        for (var i = 0; i < 10; i++)
        {
            var key = KnownKey(entries);
            var found = random.Next(3) switch { 0 => cursor.Seek(key), 1 => cursor.SeekForPrevious(key), _ => cursor.SeekExact(key) };
            for (var step = random.Next(20); found && step > 0; step--)
                found = random.Next(2) == 0 ? cursor.MoveNext() : cursor.MovePrevious();
        }
    }

    private void ChangeFixed(WriteTransaction writing, string name)
    {
        var tree = default(WriteFixedTree);
        if (!IsOfKind(() => writing.TryOpenFixedTree(name, out tree)))
        {
            IsOfKind(() =>
            {
                writing.CreateFixedTree(name, 16).Put(1, new byte[16]);
                return true;
            });
            return;
        }

        var entries = EntriesOf(name);
        var known = KnownKey(entries);
        var value = new byte[tree.ValueSize];
        switch (random.Next(11))
        {
            case 0:
                for (var i = 0; i < 80; i++)
                    tree.Put(random.NextInt64(-2_000, 2_000), value);
                break;
            case 1:
                var last = tree.TryGetLast(out var key, out _) ? key : 0;
                for (var i = 1; i < 80; i++)
                    tree.Put(unchecked(last + i), value);
                break;
            case 2:
                tree.Put(known, value);
                break;
            case 3:
                tree.Delete(known);
                break;
            case 4:
                foreach (var (doomed, _) in entries.Skip(random.Next(100)).Take(200))
                    tree.Delete(ArrayKey.FromBytes(doomed));
                break;
            case 5 or 6:
                tree.DeleteRange(random.Next(3) == 0 ? long.MinValue : known, random.Next(3) == 0 ? long.MaxValue : KnownKey(entries));
                break;
            case 7:
                var savepoint = writing.CreateSavepoint();
                tree.Put(known, value);
                tree.DeleteRange(known, known + 300);
                savepoint.Rollback();
                break;
            case 8:
                DeleteSomeFixed(tree);
                break;
            case 9:
                writing.DeleteTree(name);
                break;
            default:
                Touch(tree.TryGet(known, out var found) ? found : default);
                break;
        }
    }

    private void DeleteSomeFixed(WriteFixedTree tree)
    {
        using var cursor = tree.OpenCursor();
        for (var i = 0; i < 300 && cursor.MoveNext(); i++)
        {
            if (random.Next(3) > 0)
                cursor.Delete();
        }
    }

    private long KnownKey(IReadOnlyList<(byte[] Key, byte[] Value)> entries) =>
        entries.Count == 0 || random.Next(8) == 0 ? random.NextInt64(-2_000, 2_000) : ArrayKey.FromBytes(entries[random.Next(entries.Count)].Key);

    // A forged header may make a tree one of another kind: that is reported as the caller's mistake.
    private bool IsOfKind(Func<bool> open)
    {
        try
        {
            return open();
        }
        catch (InvalidOperationException)
        {
            ReportedErrors++;
            return false;
        }
    }
}
