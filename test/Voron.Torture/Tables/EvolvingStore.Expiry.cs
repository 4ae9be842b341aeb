using Voron.Tables;
using Voron.Torture.Feeds;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Rows that expire, while their times come and go as indexes do.</content>
internal sealed partial class EvolvingStore<TKey>
{
    private const int LongestPause = 4_000;

    // The times by which rows are past theirs in the content.
    private TableIndex? _settledBy;

    /// <summary>The clock of the rows; null if they do not expire.</summary>
    public StepClock? Clock { get; init; }

    /// <summary>Lets time pass.</summary>
    public void PassTime()
    {
        Clock!.Advance(TimeSpan.FromMilliseconds(_random.Next(1, LongestPause)));
        _run.Report($"it is {Clock.Milliseconds}");
        Settle();
    }

    /// <summary>Deletes the expired rows, if the definition has the times.</summary>
    public void DeleteExpired()
    {
        Settle();
        if (ReadyExpiry() is not { } expiry || !Setting.Indexes.Contains(expiry))
            return;
        _run.Report("delete the expired rows");
        var deleted = Environment.DeleteExpiredAsync(Setting.Definition).AsTask().GetAwaiter().GetResult();
        _run.Tally("expired rows", deleted);
        NoteDurable();
        using var reading = Environment.BeginRead();
        var rows = reading.OpenTable(Setting.Definition).Count;
        if (rows != Content.Count)
            throw new ModelMismatchException($"the table has {rows} rows instead of {Content.Count}");
    }

    // What the table has now: by the times that the environment has, whatever the definition says.
    private void Settle()
    {
        if (Clock == null || Setting == null)
            return;
        var (before, expiry) = (Content, ReadyExpiry());
        if (expiry == null || expiry != _settledBy)
        {
            using var reading = Environment.BeginRead();
            if (reading.TryOpenTable(Setting.Definition, out var table))
                Content = Content.WithExpired(row => IsThere(table, row), expiry != null);
        }

        _settledBy = expiry;
        if (expiry != null)
            Content = Content.At(expiry, Clock.Milliseconds);

        // From here on, any transaction may delete them.
        if (Content != before)
            OnCommit?.Invoke(NewestId);
    }

    private bool IsThere(Table<TKey, TableRow> table, ModelRow row) =>
        table.TryGet(_kind.KeyOf(row.Row), out var found) && found.HasSameFields(row.Row);

    private TableIndex? ReadyExpiry()
    {
        foreach (var index in Environment.GetTables().SelectMany(table => table.Indexes))
        {
            if (index is { Name: TableIndex.Expiry, State: IndexState.Ready })
                return TableIndex.Of(TableIndex.Expiry, index.Version);
        }

        return null;
    }

    // Times come and go only with another version of the definition: what a row has in its head is known by the version that has written it.
    private void DrawExpiry(List<TableIndex> indexes, ref int version)
    {
        var old = Setting?.Indexes.FirstOrDefault(index => index.Name == TableIndex.Expiry);
        var next = _random.Next(5) switch
        {
            0 => null,
            1 => TableIndex.Of(TableIndex.Expiry, 1),
            2 => TableIndex.Of(TableIndex.Expiry, 2),
            _ => old,
        };
        if (next != null)
            indexes.Add(next);
        if (next != old && Setting != null)
            version = Setting.Version + 1;
    }
}
