using Voron.Format;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.Kinds;
using Voron.Trees.ValueSets.Records;

namespace Voron.Maintenance;

/// <summary>
/// Compares the records of a value set tree with the values in its companion: each count, the order of the values in the leaves, and that every
/// large set has a key. The pages of both trees have been checked before.
/// </summary>
/// <remarks>Memory: three numbers for each large set.</remarks>
/// <param name="snapshot">The snapshot.</param>
/// <param name="pages">Notices when the verification must stop.</param>
/// <param name="report">Receives the faults.</param>
internal sealed unsafe class ValueSetVerifier(SnapshotPages snapshot, CheckedPages pages, Action<string> report)
{
    // The maximum number of faulty large sets to name: a single fault can make all of them wrong.
    private const int MostNamed = 10;

    private readonly Dictionary<long, (long Count, long Bytes)> _large = [];
    private int _named;

    /// <summary>Checks a tree.</summary>
    /// <param name="header">The header of the tree.</param>
    /// <exception cref="CorruptionException">A page cannot be read.</exception>
    public void Run(in TreeHeader header)
    {
        var name = SystemTree.LargeSetsName(header.TreeId, stackalloc byte[SystemTree.LargeSetsNameBytes]);
        var hasCompanion = Catalog.TryFind(new TreeState(snapshot.State.Catalog), snapshot, name, out var companion);
        if (!hasCompanion)
            report($"the catalog does not have its {SystemTree.Describe(name)}");
        else if (companion.Kind == TreeKind.Plain)
            CountLarge(new TreeState(companion));
        else
            report($"its {SystemTree.Describe(name)} is {TreeKinds.Of(companion.Kind).Description}");
        CheckRecords(header);
        foreach (var (number, set) in _large)
            Name($"large set {number} has {set.Count} values, but no key leads to it");
    }

    /// <summary>Checks that there is a tree for a companion.</summary>
    public void CheckCompanion(ReadOnlySpan<byte> name)
    {
        var treeId = SystemTree.LargeSetsOf(name);
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(snapshot.State.Catalog), snapshot, canChange: false);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            var header = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount, snapshot.PageSize, snapshot.FilePath);
            if (header.TreeId == treeId && header.Kind == TreeKind.ValueSets && !SystemTree.Is(cursor.Key))
                return;
        }

        report($"there is no tree of value sets with id {treeId}");
    }

    private void CountLarge(TreeState companion)
    {
        var cursor = new TreeCursor();
        cursor.Open(companion, snapshot, canChange: false);
        var next = 1L;
        var (number, count, bytes) = (0L, 0L, 0L);
        var visit = -1L;
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            Pause(cursor, ref visit);
            var key = cursor.Key;
            if (key.SequenceEqual(ValueSetLayout.NextNumberKey))
            {
                next = cursor.Value.Length == sizeof(long) ? BitConverter.ToInt64(cursor.Value) : 0;
                continue;
            }

            if (key.Length <= ValueSetLayout.NumberBytes || ValueSetLayout.NumberOf(key) <= 0 || cursor.Value.Length > 0)
            {
                Name($"its companion has an entry that is no value of a set: {KeyText.Of(key)}");
                continue;
            }

            if (ValueSetLayout.NumberOf(key) != number)
            {
                Note(number, count, bytes);
                (number, count, bytes) = (ValueSetLayout.NumberOf(key), 0, 0);
            }

            count++;
            bytes += key.Length - ValueSetLayout.NumberBytes;
        }

        cursor.Close();
        Note(number, count, bytes);
        if (number >= next)
            report($"the number of its next large set is {next}, but there is a large set {number}");
    }

    private void Note(long number, long count, long bytes)
    {
        if (count > 0)
            _large[number] = (count, bytes);
    }

    private void CheckRecords(in TreeHeader header)
    {
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(header), snapshot, canChange: false);
        var values = 0L;
        var visit = -1L;
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            Pause(cursor, ref visit);
            try
            {
                var set = ValueSetRecord.Read(snapshot, cursor.Record);
                values += set.Count;
                if (set.Form == ValueSetForm.Few && FewValues.FindValueFault(snapshot, set.Bytes) is { } fault)
                    Name($"key {KeyText.Of(cursor.Key)} has {fault}");
                else if (set.Form == ValueSetForm.Large)
                    CheckLarge(cursor.Key, set.Large);
            }
            catch (CorruptionException problem)
            {
                Name($"key {KeyText.Of(cursor.Key)}: {problem.Message}");
            }
        }

        cursor.Close();
        if (values != header.NestedValues)
            report($"tree header: claims {header.NestedValues} values, but the walk counted {values}");
    }

    private void CheckLarge(ReadOnlySpan<byte> key, in LargeSetReference set)
    {
        var there = _large.GetValueOrDefault(set.Number);
        _large.Remove(set.Number);
        if (there != (set.Count, set.Bytes))
        {
            Name($"key {KeyText.Of(key)} claims {set.Count} values of {set.Bytes} bytes in large set {set.Number}, which has {there.Count} of {there.Bytes} " +
                "bytes, or belongs to another key too");
        }
    }

    private void Pause(TreeCursor cursor, ref long visit)
    {
        if (cursor.LeafVisits == visit)
            return;
        visit = cursor.LeafVisits;
        pages.ThrowIfStopped();
    }

    private void Name(string problem)
    {
        if (_named++ < MostNamed)
            report(problem);
    }
}
