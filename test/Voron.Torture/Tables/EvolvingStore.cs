using System.Diagnostics;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tables;
using Voron.Torture.Crashes;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <summary>An environment with one table, whose definition changes while its rows do.</summary>
internal sealed partial class EvolvingStore<TKey> : IDisposable
{
    private static readonly TimeSpan DropLimit = TimeSpan.FromMinutes(1);

    private readonly SuiteRun _run;
    private readonly TableKind<TKey> _kind;
    private readonly RowDrawer _rows;
    private readonly Tape _random;
    private readonly StorageOptions _options;
    private StorageEnvironment? _environment;

    public EvolvingStore(SuiteRun run, TableKind<TKey> kind, RowDrawer rows, SimulatedDisk disk, StorageOptions options)
    {
        _run = run;
        _random = run.Choices;
        _kind = kind;
        _rows = rows;
        _options = options;
        Disk = disk;
    }

    public SimulatedDisk Disk { get; }

    public StorageEnvironment Environment => _environment!;

    /// <summary>The newest definition.</summary>
    public TableSetting<TKey> Setting { get; set; } = null!;

    /// <summary>What the table has.</summary>
    public TableContent Content { get; set; } = new();

    /// <summary>What the table had after each call.</summary>
    public List<TableContent> Seen { get; init; } = [];

    /// <summary>Called after each transaction that has changed rows, with its id.</summary>
    public Action<long>? OnCommit { get; init; }

    /// <summary>Called after each durable transaction, with the id of the newest one.</summary>
    public Action<long>? OnDurable { get; init; }

    public long NewestId => Environment.Internals.Engine.Ring.PublishedId;

    public void Open() => _environment = StorageEnvironment.Open(Disk, _options);

    public void Close()
    {
        _environment?.Dispose();
        _environment = null;
    }

    public void Dispose() => Close();

    /// <summary>Makes a definition with the indexes.</summary>
    public TableSetting<TKey> Define(IReadOnlyList<TableIndex> indexes, int version) => TableSetting<TKey>.Make(_run, _kind, indexes, _rows, version);

    /// <summary>Draws the next definition: some indexes stay, some go, some come, and some become others of the same name.</summary>
    public TableSetting<TKey> DrawNext()
    {
        var indexes = new List<TableIndex>();
        foreach (var name in TableIndex.Names)
        {
            var old = Setting?.Indexes.FirstOrDefault(index => index.Name == name);
            switch (_random.Next(4))
            {
                case 0 when old != null:
                    indexes.Add(old);
                    break;
                case 1:
                    indexes.Add(TableIndex.Of(name, 1));
                    break;
                case 2:
                    indexes.Add(TableIndex.Of(name, 2));
                    break;
            }
        }

        if (indexes.Count == 0)
            indexes.Add(TableIndex.Of(TableIndex.Plain, 1));
        var version = (Setting?.Version ?? 1) + (Setting != null && (_random.Next(3) > 0 || Lacks(indexes, Setting)) ? 1 : 0);
        if (Clock != null)
            DrawExpiry(indexes, ref version);
        if (_random.Next(4) == 3)
            _rows.DrawCompression();
        return Define(indexes, version);
    }

    // Only a higher version of the definition drops an index, or takes it back to a lower version.
    private static bool Lacks(List<TableIndex> indexes, TableSetting<TKey> setting) => setting.Indexes
        .Any(old => old.Name != TableIndex.Expiry && !indexes.Exists(index => index.Name == old.Name && index.Version >= old.Version));

    /// <summary>Changes rows in a transaction.</summary>
    public void Write(int calls)
    {
        Settle();
        using var writing = Environment.BeginWrite();
        var id = writing.TransactionId;
        _run.Report($"begin {id}");
        var writer = new TableWriter<TKey>(Setting, writing.OpenTable(Setting.Definition), Content.Copy())
        {
            OnCall = content => Seen.Add(content.Copy()),
        };
        writer.Run(writing, calls);
        if (_random.Next(8) == 7)
        {
            _run.Report("roll back");
            return;
        }

        writing.Commit();
        _run.Report("commit");
        Content = writer.Content;
        OnCommit?.Invoke(id);
        NoteDurable();
    }

    /// <summary>Compares the table with the model, and its rows with its indexes.</summary>
    /// <param name="isEvolved">False if the table may have an older definition than the newest one.</param>
    public void Check(bool isEvolved)
    {
        Settle();
        if (Environment.Verify() is { IsSound: false } damage)
            throw new ModelMismatchException($"the environment is damaged: {damage}");
        using var reading = Environment.BeginRead();
        CheckNeighbours(reading, isEvolved);
        if (!reading.TryOpenTable(Setting.Definition, out var table))
        {
            if (Content.Count > 0 || isEvolved)
                throw new ModelMismatchException("the table is not there");
            return;
        }

        new TableReader<TKey>(Setting, table).LookAtAll(Content);
        var report = reading.VerifyTable(Setting.Definition);
        if (!report.IsSound)
            throw new ModelMismatchException($"the table of {Content.Count} rows is damaged: {report}");
        Content.CheckCount(report.Rows);
        var left = Setting.Indexes.Where(index => table.GetIndexState(index.Name) != IndexState.Ready).Select(index => index.Name);
        if (isEvolved && !report.Unchecked.ToHashSet().SetEquals(left))
            throw new ModelMismatchException($"others are left unchecked than the indexes that are not ready: {string.Join(", ", report.Unchecked)}");
    }

    /// <summary>Frees the pages of indexes that were dropped.</summary>
    public void FreeDropped()
    {
        _run.Report("free the pages of dropped indexes");
        Environment.Internals.Dropper!.Resume();
        for (var begun = Stopwatch.GetTimestamp(); Environment.Internals.Dropper!.IsRunning; Thread.Yield())
        {
            if (Stopwatch.GetElapsedTime(begun) > DropLimit)
                throw new CrashViolationException("the pages of dropped indexes are being freed for ever");
        }

        using (var reading = Environment.BeginRead())
        {
            if (reading.GetDroppedTrees().Count > 0)
                throw new CrashViolationException("a dropped index keeps pages after all that was left of it should be free");
        }

        NoteDurable();
    }

    private void NoteDurable() => OnDurable?.Invoke(NewestId);
}
