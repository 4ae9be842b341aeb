using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Damage;

/// <content>Trees of value sets.</content>
internal sealed partial class MalformedCase
{
    /// <summary>Many times as many as the stores have: a walk that makes more of them might never end.</summary>
    private const int MostSteps = 200_000;

    private void ReadValueSets(ReadTransaction reading, string name)
    {
        var tree = default(ValueSetTree);
        if (FixedContent.IsName(name) || IdTreeContent.IsName(name) || !IsOfKind(() => reading.TryOpenValueSetTree(name, out tree)))
            return;
        _ = tree.GetStatistics();
        var entries = EntriesOf(name);
        for (var i = 0; i < 8; i++)
        {
            var (key, value) = KnownValue(entries);
            Try(() => tree.CountOf(key));
            Try(() => tree.Contains(key, value));
            Try(() => WalkValues(tree, key, value));
        }

        Try(() => ScanValues(tree, forward: true));
        Try(() => ScanValues(tree, forward: false));
        Try(() => ScanSetKeys(tree, forward: true));
        Try(() => ScanSetKeys(tree, forward: false));
        Try(() => SeekValues(tree, entries));
    }

    private void WalkValues(ValueSetTree tree, byte[] key, byte[] value)
    {
        using var values = tree.OpenValues(key);
        _ = values.Count;
        var found = random.Next(3) switch { 0 => values.Seek(value), 1 => values.SeekForPrevious(value), _ => values.SeekLast() };
        for (var step = random.Next(300); found && step > 0; step--)
        {
            Touch(values.Value);
            found = random.Next(3) > 0 ? values.MoveNext() : values.MovePrevious();
        }
    }

    private static void ScanValues(ValueSetTree tree, bool forward)
    {
        using var cursor = tree.OpenCursor();
        for (var steps = 0; forward ? cursor.MoveNext() : cursor.MovePrevious(); steps++)
        {
            BrokenPromiseException.Require(steps < MostSteps, $"a scan of '{tree.Name}' has made {steps} steps");
            Touch(cursor.Key);
            Touch(cursor.Value);
        }
    }

    private static void ScanSetKeys(ValueSetTree tree, bool forward)
    {
        using var cursor = tree.OpenCursor();
        var steps = 0;
        while (forward ? cursor.MoveToNextKey() : cursor.MoveToPreviousKey())
        {
            BrokenPromiseException.Require(steps++ < MostSteps, $"a scan of the keys of '{tree.Name}' has made {steps} steps");
            _ = cursor.CountOfKey;
            Touch(cursor.Value);
        }
    }

    private void SeekValues(ValueSetTree tree, IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        using var cursor = tree.OpenCursor();
        for (var i = 0; i < 10; i++)
        {
            var (key, value) = KnownValue(entries);
            var found = random.Next(4) switch
            {
                0 => cursor.Seek(key, value),
                1 => cursor.SeekForPrevious(key, value),
                2 => cursor.SeekForPrevious(key),
                _ => cursor.SeekExact(key, value),
            };
            for (var step = random.Next(20); found && step > 0; step--)
                found = random.Next(4) switch { 0 => cursor.MovePrevious(), 1 => cursor.MoveToNextKey(), _ => cursor.MoveNext() };
        }
    }

    private void ChangeValueSets(WriteTransaction writing, string name)
    {
        var tree = default(WriteValueSetTree);
        if (!IsOfKind(() => writing.TryOpenValueSetTree(name, out tree)))
            return;
        var entries = EntriesOf(name);
        var (key, value) = KnownValue(entries);
        switch (random.Next(10))
        {
            case 0:
                for (var i = 0; i < 60; i++)
                    tree.Add(KnownValue(entries).Key, NewKey());
                break;
            case 1:
                for (var i = 0; i < 60; i++)
                    tree.Add(key, NewKey());
                break;
            case 2:
                foreach (var (joined, _) in entries.Skip(random.Next(Math.Max(1, entries.Count))).Take(random.Next(300)))
                    tree.Remove(ValueSetEntries.KeyOf(joined), ValueSetEntries.ValueOf(joined));
                break;
            case 3:
                tree.Remove(key, value);
                break;
            case 4:
                tree.RemoveAll(key);
                break;
            case 5:
                tree.DeleteRange(random.Next(2) == 0 ? KeyRange.From(key) : KeyRange.From(key).Before(KnownValue(entries).Key));
                break;
            case 6:
                var savepoint = writing.CreateSavepoint();
                tree.Add(key, NewKey());
                tree.RemoveAll(KnownValue(entries).Key);
                savepoint.Rollback();
                break;
            case 7:
                writing.DeleteTree(name);
                break;
            case 8:
                tree.Clear();
                break;
            default:
                tree.Contains(key, value);
                break;
        }
    }

    private (byte[] Key, byte[] Value) KnownValue(IReadOnlyList<(byte[] Key, byte[] Value)> entries)
    {
        if (entries.Count == 0 || random.Next(8) == 0)
            return (NewKey(), NewKey());
        var joined = entries[random.Next(entries.Count)].Key;
        return joined.Length <= ValueSetEntries.KeyBytes
            ? (NewKey(), NewKey())
            : (ValueSetEntries.KeyOf(joined).ToArray(), ValueSetEntries.ValueOf(joined).ToArray());
    }
}
