using Voron.Simulation.Harness;
using Voron.Tables;

namespace Voron.Torture.Tables;

/// <summary>A table of a run: its definition, its rows, and where its steps are reported.</summary>
internal sealed class TableSetting<TKey>(SuiteRun run, TableKind<TKey> kind, IReadOnlyList<TableIndex> indexes, int version = 1)
{
    public Tape Random => run.Choices;

    public TableKind<TKey> Kind => kind;

    public IReadOnlyList<TableIndex> Indexes => indexes;

    public int Version => version;

    public string Name => Definition.Name;

    public required RowTraps Traps { get; init; }

    public required RowDrawer Rows { get; init; }

    public required TableDefinition<TKey, TableRow> Definition { get; init; }

    /// <summary>True if some rows are refused by the functions of the definition.</summary>
    public bool HasTraps { get; set; }

    /// <summary>The number of calls so far.</summary>
    public long Calls { get; private set; }

    /// <summary>Makes a setting with a definition that has the indexes.</summary>
    public static TableSetting<TKey> Make(
        SuiteRun run, TableKind<TKey> kind, IReadOnlyList<TableIndex> indexes, RowDrawer rows, int version = 1, string name = "rows")
    {
        var traps = new RowTraps();
        return new TableSetting<TKey>(run, kind, indexes, version)
        {
            Traps = traps,
            Rows = rows,
            Definition = kind.Define(name, version, indexes, traps).CompressRows(rows.Compression),
        };
    }

    /// <summary>Compresses the rows anew, or makes them plain, as the definition that the table has evolved to says. There may be no table.</summary>
    public void Recompress(StorageEnvironment environment)
    {
        using (var reading = environment.BeginRead())
        {
            if (!reading.TryOpenTable(Definition, out _))
                return;
        }

        Note("recompress the rows");
        var report = environment.RecompressTableAsync(Name).AsTask().GetAwaiter().GetResult();
        run.Tally("rows recompressed", report.Rewritten);
        run.Tally("dictionaries trained", report.IsTrained ? 1 : 0);
    }

    /// <summary>Returns false when a script is at its end.</summary>
    public bool GoesOn() => run.Choices.HasMore && !run.Stop.IsCancellationRequested;

    /// <summary>Reports what happens.</summary>
    public void Note(string what) => run.Report(what);

    public void NoteRefusal(Refusal refusal)
    {
        Note($"  refused by {refusal}");
        run.Tally(refusal.Type.Name);
    }

    /// <summary>Reports a call, and counts it.</summary>
    public void Add(string what)
    {
        Calls++;
        Note(what);
    }
}
