using System.Buffers.Binary;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.ChangeTracking;
using Voron.Torture.Crashes;
using Voron.Transactions;

namespace Voron.Torture.Backups;

/// <summary>An environment on a simulated disk, and a digest of its content after each transaction.</summary>
internal sealed class BackedUpStore : IDisposable
{
    private const int Keys = 30;
    private const int FreedAtOnce = 16_000;
    private const int ManyKeys = 6_000;

    private static readonly string[] Trees = ["t", "u"];

    private readonly SuiteRun _run;
    private readonly Tape _choices;
    private readonly List<ReadTransaction> _readers = [];
    private readonly Dictionary<long, ulong> _digests = [];
    private readonly List<(long Began, long Ended)> _unowned = [];
    private readonly StorageOptions _options;
    private StorageEnvironment? _environment;

    public BackedUpStore(SuiteRun run, StorageOptions? options = null)
    {
        _run = run;
        _choices = run.Choices;
        Disk = new SimulatedDisk { ExtendableMaps = _choices.Next(3) < 2, MapsSeeUnbufferedWrites = _choices.Next(4) < 3 };
        _options = options
            ?? CrashOptions.Choose(_choices, _choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages);
        _options.LoggerFactory = OneLoggerFactory.Of(new ReportingLogger(run.Report));
    }

    public SimulatedDisk Disk { get; private set; }

    public StorageOptions Options => _options;

    public StorageEnvironment Environment => _environment!;

    public Engine Engine => Environment.Internals.Engine;

    public bool HasReaders => _readers.Count > 0;

    /// <summary>Changes tables, and a tree, that a feed records, and cuts the feed.</summary>
    public bool Records { get; init; }

    public void Open()
    {
        _environment = StorageEnvironment.Open(Disk, _options);

        // Before the first backup: one that meets new features, or a new format version, is not made.
        if (Records && !RecordedWork.IsIn(Environment))
            ChangeRecorded();
        NoteContent();
    }

    /// <summary>Opens what a crash has left of the disk.</summary>
    public void Open(SimulatedDisk disk)
    {
        Close();
        Disk = disk;
        Open();
    }

    /// <summary>Opens what was restored from a backup, and forgets the history since.</summary>
    public void GoBack(SimulatedDisk disk)
    {
        _digests.Clear();
        Open(disk);
    }

    /// <summary>Returns the digest of a state. The engine's own transactions, which enlarge or cut the file, change no content.</summary>
    public ulong DigestAt(long transactionId) => _digests[_digests.Keys.Where(id => id <= transactionId).Max()];

    public void Write()
    {
        if (Records && _choices.Next(2) == 1)
        {
            WriteRecorded();
            return;
        }

        using var staged = _choices.Next(8) == 7 ? Stage() : null;
        using var writing = Environment.BeginWrite();
        var tree = writing.CreateTree(Trees[_choices.Next(2)]);
        if (staged != null)
            tree.Put([(byte)_choices.Next(Keys)], staged);
        var puts = _choices.Next(1, 10);
        for (var i = 0; i < puts; i++)
        {
            var key = new[] { (byte)_choices.Next(Keys) };
            if (_choices.Next(4) == 3)
                tree.Delete(key);
            else
                tree.Put(key, Value(_choices.Next(1, _choices.Next(6) switch { 5 => 150_000, 4 => 30_000, _ => 3_000 })));
        }

        if (_choices.Next(24) == 23)
            writing.DeleteTree("t");
        if (_choices.Next(8) == 7)
        {
            _run.Report("roll back");
            return;
        }

        writing.Commit();
        _run.Report($"write of {puts}{(staged != null ? ", one staged" : "")}");
        NoteContent();
    }

    private void WriteRecorded()
    {
        if (_choices.Next(4) == 3)
        {
            var trains = _choices.Next(2) == 1;
            var hasDone = RecordedWork.TryMaintain(Environment, trains);
            _run.Report($"{(trains ? "train a dictionary" : "trim the feed")}: {hasDone}");
            if (hasDone)
                _run.Tally(trains ? "dictionaries trained" : "feeds cut");
        }
        else
        {
            ChangeRecorded();
        }

        NoteContent();
    }

    private void ChangeRecorded()
    {
        using var writing = Environment.BeginWrite();
        RecordedWork.Change(writing, _choices);
        writing.Commit();
        _run.Report("write of tables");
        _run.Tally("table commits");
    }

    /// <summary>Puts, or deletes, many small entries, so that a tree has branches, and the file has many free pages.</summary>
    public void WriteMany()
    {
        using var writing = Environment.BeginWrite();
        var tree = writing.CreateTree("many");
        var count = _choices.Next(100, 4_000);
        var deletes = _choices.Next(2) == 1;
        var first = _choices.Next(ManyKeys);
        var step = _choices.Next(4) == 3 ? _choices.Next(1, 40) : 1;
        var length = _choices.Next(1, 400);
        var key = new byte[sizeof(int)];
        for (var i = 0; i < count; i++)
        {
            BinaryPrimitives.WriteInt32BigEndian(key, (first + i * step) % ManyKeys);
            if (deletes)
                tree.Delete(key);
            else
                tree.Put(key, new byte[length]);
        }

        writing.Commit();
        _run.Report($"{(deletes ? "delete" : "put")} {count} of {length} bytes from {first} by {step}");
        NoteContent();
    }

    /// <summary>
    /// Makes the file so long that its section map needs more pages, writes behind that place, and leaves all pages before it free. The pages in
    /// between are not written.
    /// </summary>
    public void GrowOverGroups()
    {
        var pagesPerGroup = Engine.Layout.PagesPerGroup;
        if (Engine.PageSize != 4096)
            return;
        _run.Report("grow over groups of sections");
        long first, pages, began;
        using (var writing = Environment.BeginWrite())
        {
            var writePages = writing.Body.WritePages;
            pages = pagesPerGroup - writePages.State.PageCount % pagesPerGroup + _choices.Next(-4, 3) + _choices.Next(1, 3) * pagesPerGroup;
            first = writePages.AllocateUntouchedExtent(pages);
            began = writing.TransactionId;
            writing.Commit();
        }

        WriteMany();
        for (var at = first; at < first + pages; at += FreedAtOnce)
        {
            using var writing = Environment.BeginWrite();
            writing.Body.WritePages.FreeExtent(new PageNumber(at), (int)Math.Min(FreedAtOnce, first + pages - at));
            writing.Commit();
        }

        _unowned.Add((began, Engine.Ring.PublishedId));
    }

    /// <summary>True for a state in the middle of <see cref="GrowOverGroups"/>, in which pages are used, and nothing owns them.</summary>
    public bool HasUnownedPages(long transactionId) => _unowned.Exists(range => range.Began <= transactionId && transactionId < range.Ended);

    /// <summary>Gives every key of the trees with longer values another value of the same length.</summary>
    public void ChangeAll()
    {
        using var writing = Environment.BeginWrite();
        foreach (var name in Trees.Intersect(writing.GetTreeNames()))
        {
            var tree = writing.OpenTree(name);
            var lengths = new List<(byte[] Key, int Length)>();
            foreach (var entry in tree.GetEntries())
                lengths.Add((entry.Key.ToArray(), (int)entry.ValueLength));
            foreach (var (key, length) in lengths)
                tree.Put(key, Value(length));
        }

        writing.Commit();
        _run.Report("change all values");
        NoteContent();
    }

    /// <summary>Does what other threads may do at any time, beside a backup too.</summary>
    public void DoSomething()
    {
        switch (_choices.Next(8))
        {
            case < 3:
                Write();
                break;
            case < 6:
                _run.Report("flush");
                Environment.Flush();
                break;
            case 6:
                _run.Report("reclaim space");
                Environment.ReclaimSpace();
                break;
            default:
                if (_choices.Next(3) == 2)
                    _run.Report($"journal snapshot: {Environment.Internals.WriteJournalSnapshot()}");
                else
                    ToggleReader();
                break;
        }
    }

    public void Reopen()
    {
        _run.Report("close and open");
        if (_choices.Next(2) == 1)
            EndReaders();
        Close();
        Open();
    }

    public void Dispose()
    {
        Close();
        Disk.Dispose();
    }

    private void Close()
    {
        _environment?.Dispose();
        EndReaders();
        _environment = null;
    }

    private void NoteContent()
    {
        using var reading = Environment.BeginRead();
        _digests[reading.TransactionId] = Content.DigestOf(reading);
    }

    private StagedValue Stage()
    {
        using var source = new MemoryStream(Value(_choices.Next(20_000, 120_000)));
        return Environment.StageAsync(source).AsTask().GetAwaiter().GetResult();
    }

    private byte[] Value(int length)
    {
        var value = new byte[length];
        _choices.NextBytes(value);
        return value;
    }

    private void ToggleReader()
    {
        if (_readers.Count > 0 && _choices.Next(3) < 2)
        {
            var index = _choices.Next(_readers.Count);
            _readers[index].Dispose();
            _readers.RemoveAt(index);
        }
        else if (_readers.Count < 2)
        {
            _readers.Add(Environment.BeginRead());
        }
    }

    private void EndReaders()
    {
        foreach (var reader in _readers)
            reader.Dispose();
        _readers.Clear();
    }
}
