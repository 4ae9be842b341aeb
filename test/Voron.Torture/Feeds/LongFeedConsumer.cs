using System.Buffers.Binary;
using Voron.Feeds;
using Voron.Torture.Crashes;
using Voron.Torture.Model;
using Voron.Torture.Recorded;

namespace Voron.Torture.Feeds;

/// <summary>A copy of a store, which the changes of its feed keep up to date.</summary>
internal sealed class LongFeedConsumer
{
    private readonly SortedDictionary<int, int> _entries = [];
    private readonly SortedDictionary<int, int> _rows = [];

    public ChangePosition Position { get; private set; }

    /// <summary>The number of batches that ended inside of a transaction.</summary>
    public int Parts { get; private set; }

    /// <summary>Returns another copy that continues from the same place.</summary>
    public LongFeedConsumer Clone()
    {
        var clone = new LongFeedConsumer { Position = Position };
        foreach (var (key, number) in _entries)
            clone._entries.Add(key, number);
        foreach (var (key, number) in _rows)
            clone._rows.Add(key, number);
        return clone;
    }

    /// <summary>Copies the data, as a consumer does whose changes are lost.</summary>
    public void Copy(LongFeedBranch branch)
    {
        using var reading = branch.Environment.BeginRead();
        Position = reading.GetNewestPosition(RecordedStore.Feed);
        _entries.Clear();
        _rows.Clear();
        foreach (var (key, number) in branch.ContentOf(reading.TransactionId).Entries)
            _entries.Add(key, number);
        foreach (var (key, number) in branch.ContentOf(reading.TransactionId).Rows)
            _rows.Add(key, number);
    }

    /// <summary>Continues to the end of a snapshot, and compares the copy after each whole transaction.</summary>
    /// <exception cref="ChangesLostException">The feed does not have the next changes any more.</exception>
    public void Follow(LongFeedBranch branch, int batchBytes)
    {
        using var reading = branch.Environment.BeginRead();
        var batch = new ChangeBatch(batchBytes);
        while (reading.ReadChanges(RecordedStore.Feed, Position, batch))
        {
            foreach (var change in batch)
                Apply(change);
            Position = batch.Position;
            if (batch.IsTransactionComplete)
                Compare(branch.ContentOf(Position.TransactionId), $"transaction {Position.TransactionId}");
            else
                Parts++;
        }

        Compare(branch.ContentOf(reading.TransactionId), $"the snapshot of {reading.TransactionId}");
    }

    private void Apply(Change change)
    {
        if (change.Source.IsTable)
        {
            ApplyRow(change);
            return;
        }

        switch (change.Operation)
        {
            case ChangeOperation.Put:
                _entries[BinaryPrimitives.ReadInt32BigEndian(change.Key)] = RecordedRow.NumberOf(change.NewValue);
                break;
            case ChangeOperation.Delete:
                Require(_entries.Remove(BinaryPrimitives.ReadInt32BigEndian(change.Key)), change);
                break;
            case ChangeOperation.DeleteRange:
                foreach (var key in _entries.Keys.ToList())
                {
                    if (change.Range.Contains(RecordedStore.KeyOf(key)))
                        _entries.Remove(key);
                }

                break;
        }
    }

    private void ApplyRow(Change change)
    {
        var isOfRows = change.Source.Name == RecordedStore.Rows.Name;
        switch (change.Operation)
        {
            case ChangeOperation.Insert or ChangeOperation.Update:
                var row = isOfRows ? change.GetRow(RecordedStore.Rows) : change.GetRow(RecordedStore.Numbered);
                Require(_rows.ContainsKey(row.Key) == (change.Operation == ChangeOperation.Update), change);
                _rows[row.Key] = row.Number;
                break;
            case ChangeOperation.Delete:
                Require(_rows.Remove(isOfRows ? change.GetOldRow(RecordedStore.Rows).Key : (int)change.GetRowId()), change);
                break;
        }
    }

    private static void Require(bool fits, Change change)
    {
        if (!fits)
            throw new ModelMismatchException($"{change} does not fit the copy that the changes before it have made");
    }

    private void Compare(RecordedData content, string when)
    {
        if (!_entries.SequenceEqual(content.Entries) || !_rows.SequenceEqual(content.Rows))
            throw new ModelMismatchException($"{when}: the feed has led to {_entries.Count} entries and {_rows.Count} rows that are not those of the model");
    }
}
