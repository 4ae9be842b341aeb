using Voron.Trees;

namespace Voron.Tables;

/// <summary>Compares the rows of a table with its indexes.</summary>
/// <remarks>
/// Every key of every row must be in its index. If the index then has as many entries as the rows have keys, it contains no others; if not, each
/// entry is looked up in the keys of the row that it names.
/// </remarks>
internal sealed class TableChecker(BoundTable bound)
{
    private const int MaxProblems = 100;

    private readonly List<string> _problems = [];
    private readonly long[] _keys = new long[bound.Binding.Slots.Length];
    private long _rows;

    /// <param name="transactionId">The snapshot.</param>
    public TableVerificationReport Run(long transactionId)
    {
        CheckRows();
        for (var slot = 0; slot < _keys.Length; slot++)
            CheckCount(slot);
        var compared = bound.Schema.Indexes.Where(index => IsCompared(index) && bound.Binding.Slots.Contains(index)).ToHashSet();
        var left = bound.Schema.Indexes.Where(index => !compared.Contains(index)).Select(index => index.Name);
        var absent = bound.Functions.Slots.Where(slot => bound.Schema.Find(slot.Name) == null).Select(slot => slot.Name);
        return new TableVerificationReport(transactionId, _rows, _keys.Sum(), [.. left, .. absent], _problems);
    }

    private static bool IsCompared(IndexSchema? index) => index?.State == IndexState.Ready;

    private void CheckRows()
    {
        for (var slot = 0; slot < _keys.Length; slot++)
            bound.OldKeys.Want(slot, IsCompared(bound.IndexOf(slot).Schema));
        var next = bound.StoredNextRowId();
        using var cursor = bound.Rows.OpenCursor();
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            if (!RowIdBytes.TryRead(cursor.Key, out var rowId))
            {
                Report($"a row has the key {KeyText.Of(cursor.Key)}, which is no row id");
                continue;
            }

            _rows++;
            try
            {
                var row = bound.Copy(cursor.Value);
                var key = bound.ReadKeys(rowId, row);
                if (key >= 0 && key != rowId)
                    Report($"row {rowId} has the key {key}, but its key must be its id");
                CheckExpiry(rowId, row);
            }
            catch (TableException problem)
            {
                Report(problem.Message);
                continue;
            }

            for (var slot = 0; slot < _keys.Length; slot++)
                CheckKeys(slot, rowId);
        }

        if (next > RowIdBytes.Max + 1)
            Report($"its next row id is {next}, but ids end at {RowIdBytes.Max}");
    }

    private void CheckExpiry(long rowId, ReadOnlySpan<byte> row)
    {
        if (bound.Functions.ExpirySlot < 0 || !IsCompared(bound.IndexOf(bound.Functions.ExpirySlot).Schema))
            return;
        long? stored = RowLayout.TryGetExpiry(row, out var time) ? time : null;
        if (bound.ReadExpiry(rowId, row) is var expiry && expiry != stored)
            Report($"row {rowId} expires at {Describe(stored)}, but at {Describe(expiry)} by the definition");

        static string Describe(long? milliseconds) => milliseconds is { } known ? $"{known} ms after 1970" : "no time";
    }

    private void CheckKeys(int slot, long rowId)
    {
        var index = bound.IndexOf(slot);
        if (!IsCompared(index.Schema))
            return;
        var keys = bound.OldKeys[slot];
        for (var i = 0; i < keys.Count; i++)
        {
            if (!index.Contains(keys, i))
                continue;
            _keys[slot]++;
            if (!IndexSpotCheck.Has(index, keys[i], rowId, out var other))
                Report($"row {rowId} is not under its key {Text(slot, keys[i])} in {Describe(index)}{(other < 0 ? "" : $", but row {other} is")}");
        }
    }

    private void CheckCount(int slot)
    {
        var index = bound.IndexOf(slot);
        if (!IsCompared(index.Schema))
            return;
        using var source = IndexSpotCheck.OpenEntries(index, KeyRange.All);
        var entries = source.Count();
        if (entries == _keys[slot])
            return;
        Report($"{Describe(index)} has {entries} entries, but the rows have {_keys[slot]} keys");
        try
        {
            while (_problems.Count < MaxProblems && source.MoveNext(isBackward: false, default))
            {
                if (!RowHas(slot, source.Key, source.RowId))
                    Report($"{Describe(index)} has row {source.RowId} under {Text(slot, source.Key)}, which is no key of that row");
            }
        }
        catch (CorruptionException problem)
        {
            Report($"{Describe(index)}: {problem.Message}");
        }
    }

    private bool RowHas(int slot, ReadOnlySpan<byte> key, long rowId)
    {
        if (!RowLookup.TryGet(bound, rowId, out var row))
            return false;
        try
        {
            bound.ReadKeys(rowId, bound.Copy(row));
        }
        catch (TableException)
        {
            // Already reported with the row.
            return true;
        }

        var keys = bound.OldKeys[slot];
        for (var i = 0; i < keys.Count; i++)
        {
            if (keys[i].SequenceEqual(key))
                return true;
        }

        return false;
    }

    private void Report(string problem)
    {
        if (_problems.Count < MaxProblems)
            _problems.Add($"table '{bound.Schema.Name}': {problem}");
    }

    private string Text(int slot, ReadOnlySpan<byte> key) => IndexField.Describe(bound.Functions.Slots[slot].KeyType, key);

    private static string Describe(OpenIndex index) => index.Schema!.Name.Length == 0 ? "the primary key" : $"the index '{index.Schema.Name}'";
}
