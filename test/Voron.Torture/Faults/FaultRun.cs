using System.Text;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Faults;

/// <summary>
/// Works on an environment on a disk that fails somewhere, and checks the content after reopening: every acknowledged commit, with or
/// without the commits whose outcome was unknown. The environment's report of a failure is checked at once.
/// </summary>
internal sealed partial class FaultRun(SimulatedDisk disk, StorageOptions options) : IDisposable
{
    private static readonly TraceKind[] Changes =
    [
        TraceKind.Create, TraceKind.Rename, TraceKind.Delete, TraceKind.DirectorySync, TraceKind.SetLength, TraceKind.Allocate, TraceKind.Punch,
        TraceKind.Write, TraceKind.WriteFailed, TraceKind.Sync, TraceKind.SyncFailed, TraceKind.SyncDropped,
    ];

    private readonly List<(ReadTransaction Transaction, Content Expected)> _readers = [];
    private readonly List<Content> _unknown = [];
    private readonly CrashStages _stages = new();
    private StorageEnvironment? _environment;

    /// <summary>The content of the newest commit that returned.</summary>
    public Content Acknowledged { get; set; } = Content.Empty;

    /// <summary>The number of calls of the environment that were refused or failed.</summary>
    public int ReportedFailures { get; private set; }

    /// <summary>The newest exception among them.</summary>
    public Exception? LastFailure { get; private set; }

    /// <summary>Receives a description of each step.</summary>
    public Action<string>? OnStep { get; init; }

    public bool IsPoisoned { get; private set; }

    public bool IsOpen => _environment is not null;

    public StorageEnvironment Environment => _environment!;

    public static StorageOptions RandomOptions(Tape choices) =>
        CrashOptions.Choose(choices, choices.Next(4) == 3 ? TornPageProtection.FullPageImages : TornPageProtection.Checksums);

    /// <summary>Opens the environment; if that fails, nothing may be left of the attempt.</summary>
    public void Open()
    {
        try
        {
            _environment = StorageEnvironment.Open(disk, options);
        }
        catch (VoronException e) when (IsHonest(e))
        {
            RecordFailure(e);
            CheckNothingIsOpen();
            return;
        }
        ReadDespiteFaults(CheckContent);
    }

    /// <summary>Performs one operation. It opens an environment that is closed, and does nothing on one that is poisoned.</summary>
    public void Step(Tape choices)
    {
        if (IsPoisoned)
            return;
        if (!IsOpen)
        {
            Open();
            return;
        }
        if (!TryStepOfRecording(choices))
            StepOfAll(choices);
        if (IsPoisoned)
            CheckPoisoned();
    }

    private void StepOfAll(Tape choices)
    {
        switch (choices.Next(100))
        {
            case < 34:
                OnStep?.Invoke("commit");
                Commit(choices, writing => writing.Change(choices.Next(1, 7)));
                break;
            case < 38:
                OnStep?.Invoke("stage a value");
                Attempt(() => _stages.Change(Environment, choices));
                break;
            case < 40:
                OnStep?.Invoke("commit of staged values");
                Commit(choices, writing => writing.PutAllStaged());
                break;
            case < 50:
                OnStep?.Invoke("commit of a large value");
                Commit(choices, writing => writing.PutLarge());
                break;
            case < 58:
                OnStep?.Invoke("two commits in a pipeline");
                CommitTwoBehind(choices);
                break;
            case < 64:
                OnStep?.Invoke("group commit");
                RunGroupCommit(choices);
                break;
            case < 78:
                OnStep?.Invoke("flush");
                Attempt(() => Environment.Flush());
                break;
            case < 82:
                OnStep?.Invoke("journal snapshot");
                Attempt(() => Environment.Internals.WriteJournalSnapshot());
                break;
            case < 84:
                OnStep?.Invoke("confirm durability");
                Attempt(() => Environment.Internals.ConfirmDurability());
                break;
            case < 90:
                OnStep?.Invoke("begin a reader");
                if (_readers.Count < 2)
                    _readers.Add((Environment.BeginRead(), Acknowledged));
                break;
            case < 94:
                OnStep?.Invoke("end the readers");
                EndReaders();
                break;
            case < 96:
                OnStep?.Invoke("reclaim");
                Attempt(() => Environment.ReclaimSpace());
                break;
            default:
                OnStep?.Invoke("close and open");
                Close();
                Open();
                break;
        }
    }

    /// <summary>Closes everything. A poisoned environment writes nothing when it is closed.</summary>
    public void Close()
    {
        EndReaders();
        if (_environment is null)
            return;
        var before = Changes.Sum(disk.Count);
        _environment.Dispose();
        _environment = null;
        _stages.Dispose();
        BrokenPromiseException.Require(
            !IsPoisoned || Changes.Sum(disk.Count) == before, "A poisoned environment has changed the disk while it was being closed.");
        CheckNothingIsOpen();
    }

    public void Dispose()
    {
        foreach (var (transaction, _) in _readers)
            transaction.Dispose();
        _readers.Clear();
        _environment?.Dispose();
        _environment = null;
        _stages.Dispose();
    }

    /// <summary>
    /// Opens the disk that the work has left, checks that it holds everything that it must and nothing that it must not, and continues to
    /// work with it.
    /// </summary>
    public Content CheckReopened(SimulatedDisk left) => GoOn(left, [Acknowledged, .. _unknown]);

    /// <summary>Does the same on a disk without free space: it is opened and read; work continues when there is space.</summary>
    public void CheckReopenedFull(SimulatedDisk left)
    {
        IReadOnlyList<Content> allowed = [Acknowledged, .. _unknown];
        if (left.FileOf(Paging.HeaderFile.FileName) >= 0)
        {
            using var environment = StorageEnvironment.Open(left, options);
            var found = ContentCheck.Check(environment, allowed);
            try
            {
                found = Add(environment, found, "full");
            }
            catch (StorageFullException)
            {
                ContentCheck.Check(environment, [found]);
            }
            allowed = [found];
        }
        left.SpaceLimit = long.MaxValue;
        GoOn(left, allowed);
    }

    /// <summary>Checks that a disk holds one certain content.</summary>
    public void CheckReopened(SimulatedDisk left, Content expected)
    {
        using var environment = StorageEnvironment.Open(left, options);
        ContentCheck.Check(environment, [expected]);
    }

    /// <summary>
    /// Checks that on a disk without free space, refused calls have left enough space in the journal for a flush of all versions that are
    /// not in the data file, unless nothing has been written since the opening.
    /// </summary>
    public void CheckCanBeEmptied()
    {
        EndReaders();
        if (Environment.GetStatistics().JournalWrites == 0)
            return;
        Environment.Flush();
        var statistics = Environment.GetStatistics();
        BrokenPromiseException.Require(
            statistics.CheckpointTransactionId == statistics.PublishedTransactionId,
            $"Transaction {statistics.PublishedTransactionId} is published, and a flush has brought the data file to " +
            $"{statistics.CheckpointTransactionId}.");
        CheckContent();
    }

    private Content GoOn(SimulatedDisk left, IReadOnlyList<Content> allowed)
    {
        using var environment = StorageEnvironment.Open(left, options);
        var next = Add(environment, ContentCheck.Check(environment, allowed), "after");
        environment.Flush();
        ContentCheck.Check(environment, [next]);
        return next;
    }

    private static Content Add(StorageEnvironment environment, Content content, string key)
    {
        var value = new ModelValue(7, 3000);
        using var writing = environment.BeginWrite();
        writing.CreateTree("alpha").Put(Encoding.ASCII.GetBytes(key), value.ToBytes());
        writing.Commit();
        return content.With("alpha", content.Trees.GetValueOrDefault("alpha", Content.EmptyTree).SetItem(key, value));
    }

    private void Commit(Tape choices, Func<ModelTransaction, ModelTransaction> change)
    {
        Content? next = null;
        Attempt(
            () =>
            {
                using var writing = Environment.BeginWrite();
                next = change(new ModelTransaction(writing, Acknowledged, choices, _stages)).Content;
                writing.Commit();
                Acknowledged = next;
            },
            () => next);
    }

    // The second commit begins while the first may not be durable yet, and so must fail if the first fails.
    private void CommitTwoBehind(Tape choices)
    {
        var newest = Acknowledged;
        var commits = new List<(Task Task, Content Content)>();
        for (var i = 0; i < 2; i++)
        {
            Attempt(() =>
            {
                using var writing = Environment.BeginWrite();
                var next = new ModelTransaction(writing, newest, choices).Touch().Change(choices.Next(3)).Content;
                var commit = writing.CommitAsync(CancellationToken.None).AsTask();
                if (commit is { IsFaulted: true, Exception.InnerException: not EnvironmentPoisonedException })
                    commit.GetAwaiter().GetResult();
                commits.Add((commit, next));
                newest = next;
            }, judge: false);
        }
        var hasFailed = false;
        foreach (var (task, content) in commits)
        {
            var done = false;
            Attempt(
                () =>
                {
                    task.GetAwaiter().GetResult();
                    done = true;
                },
                () => content, judge: false);
            BrokenPromiseException.Require(!done || !hasFailed, "A commit was acknowledged, and the one before it had failed.");
            hasFailed |= !done;
            if (done)
                Acknowledged = content;
        }
        if (LastFailure is not null)
            ReadDespiteFaults(CheckContent);
    }

    // The operations are queued while the writer is taken, so that one transaction contains them all; if it finds no space, they are run
    // again separately.
    private void RunGroupCommit(Tape choices)
    {
        var contents = new GroupCommitContents(Acknowledged);
        var tasks = new List<(Task Task, GroupCommitContents.Part Part)>();
        Attempt(() =>
        {
            using (Environment.BeginWrite())
            {
                for (var i = choices.Next(1, 4); choices.GoesOn(i > 0); i--)
                {
                    var part = new GroupCommitContents.Part();
                    tasks.Add((Environment.WriteAsync(writing => contents.Run(writing, part, choices)).AsTask(), part));
                }
            }
        });
        long committed = 0;
        long unknown = 0;
        foreach ((var task, var part) in tasks)
        {
            Attempt(
                () =>
                {
                    task.GetAwaiter().GetResult();
                    committed = Math.Max(committed, part.Generation);
                },
                () =>
                {
                    unknown = Math.Max(unknown, part.Generation);
                    return null;
                }, judge: false);
        }
        BrokenPromiseException.Require(
            committed == 0 || committed != unknown, "Of operations in one transaction, some are committed, and the outcome of others is unknown.");
        if (committed > 0)
            Acknowledged = contents.After(committed);
        if (unknown > committed)
            _unknown.Add(contents.After(unknown));
        if (LastFailure is not null)
            ReadDespiteFaults(CheckContent);
    }

    /// <summary>Performs an operation that may fail, in one of the ways in which an environment may report a failure.</summary>
    /// <param name="action">The operation.</param>
    /// <param name="next">The content that may be found after an unknown outcome.</param>
    /// <param name="judge">Whether nothing can have been committed meanwhile, so that readers still see the earlier content.</param>
    private void Attempt(Action action, Func<Content?>? next = null, bool judge = true)
    {
        try
        {
            action();
            return;
        }
        catch (EnvironmentPoisonedException e)
        {
            RecordFailure(e);
            IsPoisoned = true;
            BrokenPromiseException.Require(e.InnerException is DiskException, $"Poisoned without a cause: {e}");
            BrokenPromiseException.Require(Environment.GetStatistics().IsPoisoned, "An environment reports that it is poisoned, and is not.");
            if (e.Outcome == CommitOutcome.Unknown && next?.Invoke() is { } content)
                _unknown.Add(content);
        }
        catch (VoronException e) when (IsHonest(e))
        {
            RecordFailure(e);
        }
        if (judge)
            ReadDespiteFaults(CheckContent);
    }

    // A read that ends too early looks the same as a file that was cut. Lack of space must be reported only if there was none.
    private bool IsHonest(VoronException e) => e switch
    {
        StorageFullException => disk.LastFault is null or { Error: DiskError.NoSpace },
        StorageAccessException => true,
        CorruptionException => disk.LastFault is { Error: DiskError.EndOfFile },
        _ => false,
    };

    private void RecordFailure(Exception e)
    {
        ReportedFailures++;
        LastFailure = e;
    }

    private void EndReaders()
    {
        ReadDespiteFaults(CheckReaders);
        foreach (var (transaction, _) in _readers)
            transaction.Dispose();
        _readers.Clear();
    }

    private void CheckReaders()
    {
        foreach (var (transaction, expected) in _readers)
            ContentCheck.CheckReader(transaction, expected);
    }

    private void CheckContent()
    {
        CheckReaders();
        using var reading = Environment.BeginRead();
        ContentCheck.CheckReader(reading, Acknowledged);
    }

    // Pages that are read for the first time are read from the disk. That may be the call that has to fail: the reader then gets an
    // exception, and sees everything as soon as the disk can be read again.
    private void ReadDespiteFaults(Action check)
    {
        if (_environment is null)
            return;
        var before = disk.LastFault;
        try
        {
            check();
            return;
        }
        catch (VoronException e) when (disk.LastFault is { Operation: nameof(DiskCallKind.Read) } fault && fault != before && IsHonest(e))
        {
            RecordFailure(e);
        }
        disk.SuspendFaults(true);
        check();
        disk.SuspendFaults(false);
    }

    private void CheckPoisoned()
    {
        Action[] refused =
        [
            () => Environment.BeginWrite().Dispose(),
            () => Environment.Flush(),
            () => Environment.Internals.WriteJournalSnapshot(),
            () => Environment.ReclaimSpace(),
            () => Environment.WriteAsync(_ => { }).AsTask().GetAwaiter().GetResult(),
            () => Environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult().Dispose(),
            () => Environment.StageAsync(Stream.Null).AsTask().GetAwaiter().GetResult().Dispose(),
        ];
        foreach (var call in refused)
        {
            try
            {
                call();
            }
            catch (EnvironmentPoisonedException e)
            {
                BrokenPromiseException.Require(e.Outcome == CommitOutcome.NotCommitted, "Nothing was begun, and the outcome is reported as unknown.");
                continue;
            }
            throw new BrokenPromiseException("After a failed write or sync a later one has succeeded.");
        }
        ReadDespiteFaults(CheckContent);
    }

    private void CheckNothingIsOpen()
    {
        BrokenPromiseException.Require(
            disk is { OpenFiles: 0, LiveMaps: 0, HeldLocks: 0 },
            $"{disk.OpenFiles} files, {disk.LiveMaps} maps and {disk.HeldLocks} locks are left of a closed environment.");
    }
}
