using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Two other tables, each of which has one version of the index that the table may share with them.</content>
internal sealed partial class EvolvingStore<TKey>
{
    /// <summary>The other tables, with their content, which stays.</summary>
    public List<(TableSetting<TKey> Setting, TableContent Content)> Neighbours { get; } = [];

    /// <summary>The transaction that has created them.</summary>
    public long NeighboursSince { get; private set; }

    /// <summary>Takes over what another store has beside its table, as far as this one has the transaction that created it.</summary>
    public void TakeNeighbours(EvolvingStore<TKey> other)
    {
        NeighboursSince = other.NeighboursSince;
        if (NewestId >= NeighboursSince)
            Neighbours.AddRange(other.Neighbours);
    }

    /// <summary>Creates the other tables.</summary>
    public void CreateNeighbours()
    {
        using var writing = Environment.BeginWrite();
        NeighboursSince = writing.TransactionId;
        for (var version = 1; version <= 2; version++)
        {
            var setting = TableSetting<TKey>.Make(_run, _kind, [TableIndex.Of(TableIndex.Shared, version)], _rows, name: $"neighbour {version}");
            var writer = new TableWriter<TKey>(setting, writing.CreateTable(setting.Definition), new TableContent());
            writer.Run(writing, _random.Next(1, 30));
            Neighbours.Add((setting, writer.Content));
        }

        writing.Commit();
        NoteDurable();
    }

    private void CheckNeighbours(ReadTransaction reading, bool isEvolved)
    {
        foreach (var (setting, content) in Neighbours)
        {
            if (!reading.TryOpenTable(setting.Definition, out var table))
                throw new ModelMismatchException($"the table '{setting.Name}' is not there");
            new TableReader<TKey>(setting, table).LookAtAll(content);
            if (reading.VerifyTable(setting.Definition) is { IsSound: false } report)
                throw new ModelMismatchException($"the table '{setting.Name}' beside the one that evolves is damaged: {report}");
            if (isEvolved)
                CheckShared(reading, setting, content);
        }
    }

    private void CheckShared(ReadTransaction reading, TableSetting<TKey> setting, TableContent content)
    {
        var index = setting.Indexes[0];
        var reader = SharedReader<TKey>.Of(reading);
        reader.Add(setting, index, content);
        if (Setting.Indexes.Contains(index) && reading.TryOpenTable(Setting.Definition, out var table))
        {
            var state = table.GetIndexState(index.Name);
            if (state == IndexState.Building)
            {
                CheckNotReady(reading, index);
                return;
            }

            if (state == IndexState.Ready)
                reader.Add(Setting, index, Content);
        }

        reader.Check(_random, index);
    }

    private static void CheckNotReady(ReadTransaction reading, TableIndex index)
    {
        try
        {
            reading.QuerySharedIndex(TableIndex.SharedOf(index.Version)).Dispose();
        }
        catch (IndexNotReadyException)
        {
            return;
        }

        throw new ModelMismatchException($"the shared index '{index}' answers while one of its tables is not ready");
    }

    private static long CountIn(Table<TKey, TableRow> table)
    {
        using var query = table.From(TableIndex.Shared);
        return query.Count();
    }

    // When the call ends, nothing is left of the tables that have left the index.
    private void CheckLeftIds()
    {
        using var reading = Environment.BeginRead();
        foreach (var (setting, _) in Neighbours)
        {
            var index = setting.Indexes[0];
            var ids = CountIn(reading.OpenTable(setting.Definition));
            if (Setting.Indexes.Contains(index))
                ids += CountIn(reading.OpenTable(Setting.Definition));
            var inTree = Environment.GetTables().Single(table => table.Name == setting.Name).Indexes.Single(other => other.Name == index.Name).RowIds;
            if (inTree != ids)
                throw new ModelMismatchException($"the shared index '{index}' has {inTree} ids, and its tables have {ids}");
        }
    }
}
