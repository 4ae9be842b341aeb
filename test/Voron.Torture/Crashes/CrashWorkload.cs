using System.Diagnostics.CodeAnalysis;
using Voron.Flushing;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>Random work on an environment on a simulated disk, with a model of the content after every commit.</summary>
/// <remarks>
/// The work depends on its random numbers alone: nothing runs in the background, and where several commits are under way at the same time,
/// a write is held until all of them have been submitted. The trace of the disk has a <see cref="CrashMark"/> before and after each commit;
/// its counts are indexes of <see cref="History"/>.
/// </remarks>
[SuppressMessage("Reliability", "CA2012", Justification = "Each is looked at until it has completed, and its result is taken once.")]
internal sealed partial class CrashWorkload : IDisposable
{
    private const int ZeroedBytes = 64 << 10;

    private readonly SimulatedDisk _disk;
    private readonly SuiteRun _run;
    private readonly Tape _random;
    private readonly StorageOptions _options;
    private readonly CrashCounts _counts;
    private readonly CrashReaders _readers = new();
    private readonly CrashStages _stages = new();
    private readonly FlushPhase _flush;
    private readonly HeldWrite _held;
    private readonly HeldWrite _heldSecond = new();
    private readonly List<Pipelined> _pipeline = [];
    private StorageEnvironment? _environment;
    private int _pipeliningThread;
    private int _acknowledged;
    private int _submitted;
    private bool _flushing;

    public CrashWorkload(SimulatedDisk disk, SuiteRun run, StorageOptions options, CrashCounts counts)
    {
        _disk = disk;
        _run = run;
        _random = run.Choices;
        _options = options;
        _counts = counts;
        _held = new HeldWrite();
        _flush = new FlushPhase(disk);
        disk.InProgress = OnInProgress;
    }

    public SimulatedDisk Disk => _disk;

    public StorageOptions Options => _options;

    /// <summary>The content after each commit; the first is the content of the environment when it was opened.</summary>
    public List<Content> History { get; } = [];

    /// <summary>Lets commits happen while a flush syncs, or writes its checkpoint.</summary>
    public bool Overlaps { get; init; }

    /// <summary>Makes an environment of an older format version one of the newest, at some time.</summary>
    public bool Upgrades { get; init; }

    /// <summary>Opens the environment for the first time, and checks that it has one of the allowed contents.</summary>
    public Content Open(IReadOnlyList<Content> allowed)
    {
        _environment = StorageEnvironment.Open(_disk, _options);

        // As the pool does beside an opening with background work.
        if (_run.Index % 2 == 0)
            _environment.Internals.PrepareJournal();
        var found = ContentCheck.Check(_environment, allowed);
        History.Add(found);
        Mark();
        return found;
    }

    /// <summary>Closes the environment properly.</summary>
    public void Close()
    {
        _readers.EndAll();
        if (_random.Next(2) == 1)
            PrepareSpare();
        _environment!.Dispose();
        _environment = null;
        _stages.Dispose();
        GiveUpLoad();
        AcknowledgeLazies();
    }

    /// <summary>Ends without any check, also after a failure.</summary>
    public void Dispose()
    {
        _held.Release();
        _heldSecond.Release();
        _readers.Dispose();
        _stages.Dispose();
        GiveUpLoad();
        _environment?.Dispose();
        _environment = null;
        _held.Dispose();
        _heldSecond.Dispose();
    }

    private Content Newest => History[^1];

    /// <summary>Performs one operation, chosen at random; each of its commits has ended when it returns.</summary>
    public void Step()
    {
        if (TryStepOfPlan())
            return;
        switch (_random.Next(100))
        {
            case < 28:
                _run.Report("commit");
                Commit(_random.Next(1, 9));
                break;
            case < 34:
                CommitOtherKinds();
                break;
            case < 39:
                _run.Report("stage a value");
                _stages.Change(_environment!, _random);
                break;
            case < 42:
                _run.Report("commit of staged values");
                Commit(writing => writing.PutAllStaged().Change(_random.Next(3)));
                break;
            case < 46:
                _run.Report("commits that replace a tree");
                CommitReplacement();
                break;
            case < 51:
                _run.Report("roll back");
                RollBack();
                break;
            case < 61:
                _run.Report("commits in a pipeline");
                CommitPipelined();
                break;
            case < 66:
                _run.Report("group commit");
                RunGroupCommit();
                break;
            case < 78:
                _run.Report("flush");
                Flush();
                break;
            case < 82:
                _run.Report("journal snapshot");
                _counts.JournalSnapshots += _environment!.Internals.WriteJournalSnapshot() ? 1 : 0;
                break;
            case < 90:
                _run.Report("begin a reader");
                _readers.Begin(_environment!, Newest);
                break;
            case < 96:
                _run.Report("end a reader");
                if (_readers.Count > 0)
                    _readers.End(_random.Next(_readers.Count));
                break;
            case < 98:
                _run.Report("verify");
                ContentCheck.Verify(_environment!);
                break;
            default:
                CloseAndOpen();
                break;
        }
    }

    // What only the runs of some plans do.
    private bool TryStepOfPlan()
    {
        if (Reclaims && _random.Next(2) == 1)
            StepOfReclaiming();
        else if (Upgrades && _random.Next(6) == 5)
            Upgrade();
        else if (Drops && _random.Next(4) == 3)
            StepOfDropping();
        else if (Records && _random.Next(3) == 2)
            StepOfRecording();
        else if (Lazies && _random.Next(2) == 1)
            StepOfLazies();
        else if (Pairs && _random.Next(2) == 1)
            CommitPair();
        else if (Loads && _random.Next(2) == 1)
            StepOfLoading();
        else
            return false;
        return true;
    }

    private void CloseAndOpen()
    {
        _run.Report("close and open");
        Close();
        _environment = StorageEnvironment.Open(_disk, _options);
        ContentCheck.Check(_environment, [Newest]);
    }

    private void Commit(int operations) => Commit(writing => writing.Change(operations));

    private void Commit(Func<ModelTransaction, ModelTransaction> change)
    {
        using var writing = _environment!.BeginWrite();
        Submit(change(Model(writing, Newest, _stages)).Content);
        writing.Commit();
        Acknowledge();
    }

    // Frees pages in one transaction and allocates them for other content in the next.
    private void CommitReplacement()
    {
        Commit(writing => writing.Replace());
        Commit(writing => writing.PutLarge());
    }

    private void RollBack()
    {
        using var writing = _environment!.BeginWrite();
        Model(writing, Newest, _stages).Change(_random.Next(1, 9));
    }

    // The first write is held until the others have been submitted, a reader has begun and a flush has been tried.
    private void CommitPipelined()
    {
        var durable = Newest;
        _pipeliningThread = Environment.CurrentManagedThreadId;
        _held.Arm();
        Thread? flusher = null;
        Exception? failure = null;
        try
        {
            CommitBehind(mayBeLazy: false);
            _held.WaitUntilEntered();
            for (var i = _random.Next(4); _random.GoesOn(i > 0); i--)
            {
                if (_random.Next(4) == 3)
                    CommitNothingBehind();
                else
                    CommitBehind(mayBeLazy: Lazies);
            }

            if (_random.Next(2) == 0)
                _readers.Begin(_environment!, durable);
            if (_random.Next(2) == 0)
                flusher = StartFlush(e => failure = e);
        }
        finally
        {
            _held.Release();
        }

        AwaitPipeline();
        flusher?.Join();
        _pipeliningThread = 0;
        var completed = _pipeline.ToArray();
        _pipeline.Clear();
        foreach (var (task, _) in completed)
            task.GetAwaiter().GetResult();
        Acknowledge();
        if (failure != null)
            throw new CrashViolationException($"A flush beside commits failed: {failure.Message}", failure);
        _readers.Check();
    }

    private void CommitBehind(bool mayBeLazy)
    {
        using var writing = _environment!.BeginWrite();
        if (mayBeLazy && _random.Next(2) == 1)
            writing.Durability = Durability.Lazy;
        Submit(Model(writing, Newest).Touch().Change(_random.Next(1, 5)).Content);
        AddToPipeline(writing.CommitAsync(CancellationToken.None));
    }

    // The empty commit has found everything that was submitted before it, and changes nothing: its acknowledgement acknowledges all of that.
    private void CommitNothingBehind()
    {
        _counts.UnchangedCommits++;
        using var writing = _environment!.BeginWrite();
        AddToPipeline(writing.CommitAsync(CancellationToken.None));
    }

    private void AddToPipeline(ValueTask task)
    {
        lock (_pipeline)
        {
            // Acknowledged before the write of the commits that it builds on has ended.
            if (task.IsCompletedSuccessfully)
                Acknowledge();
            _pipeline.Add(new Pipelined(task, _submitted));
        }
    }

    // Other threads look at the tasks until they have completed, so none can be turned into a task that can be waited for.
    private void AwaitPipeline()
    {
        foreach (var (task, _) in _pipeline)
        {
            for (var spin = new SpinWait(); !task.IsCompleted;)
                spin.SpinOnce(sleep1Threshold: -1);
        }
    }

    // Determines which commits have been acknowledged when a write happens beside others: those of all earlier journal writes. Looking at
    // the tasks themselves, rather than at the effects that other threads derive from them, finds the same ones each time. A flush that
    // continues when the first write is no longer held has waited for its record, which follows those of all commits here.
    private void AcknowledgePipelined(TraceEntry entry, bool isOutsideOfLocks)
    {
        if (Environment.CurrentManagedThreadId == _pipeliningThread || _held.IsHolding)
            return;
        if (isOutsideOfLocks)
            AwaitPipeline();
        else if (entry.Kind != TraceKind.Write || !_disk.NameOf(entry).StartsWith(Voron.Journal.JournalFile.NamePrefix, StringComparison.Ordinal))
            return;
        lock (_pipeline)
        {
            var acknowledged = _pipeline.Where(commit => commit.Task.IsCompletedSuccessfully).Select(commit => commit.Pinned).DefaultIfEmpty().Max();
            if (acknowledged <= _acknowledged)
                return;
            _counts.AcknowledgedWithinPipelines++;
            _acknowledged = acknowledged;
            Mark();
        }
    }

    private Thread StartFlush(Action<Exception> onFailure)
    {
        var environment = _environment!;
        var thread = new Thread(() =>
        {
            try
            {
                environment.Flush();
            }
            catch (Exception e)
            {
                onFailure(e);
            }
        });
        thread.Start();
        while (thread.IsAlive && (thread.ThreadState & ThreadState.WaitSleepJoin) == 0)
            Thread.Yield();
        return thread;
    }

    // The operations are queued while the writer is taken, so that one transaction contains them all; some of them fail.
    private void RunGroupCommit()
    {
        var content = Newest;
        var tasks = new List<Task>();
        using (_environment!.BeginWrite())
        {
            for (var i = _random.Next(1, 5); _random.GoesOn(i > 0); i--)
            {
                var fails = _random.Next(4) == 0;
                tasks.Add(_environment.WriteAsync(writing =>
                {
                    var changed = Model(writing, content, _stages).Change(_random.Next(1, 5)).Content;
                    if (fails)
                        throw new InvalidOperationException("The operation changes its mind.");
                    content = changed;
                }).AsTask());
            }

            _submitted++;
            Mark();
        }

        foreach (var task in tasks)
            task.ContinueWith(_ => { }, TaskScheduler.Default).Wait();
        var unexpected = tasks.Select(task => task.Exception?.InnerException).FirstOrDefault(e => e is not (null or InvalidOperationException));
        if (unexpected != null)
            throw new CrashViolationException($"An operation of a group commit failed: {unexpected.Message}", unexpected);
        History.Add(content);
        _counts.Commits++;
        Acknowledge();
    }

    private void Flush()
    {
        _flushing = Overlaps;
        var report = _environment!.Flush();
        _flushing = false;
        AcknowledgeLazies();
        if (report != null)
            _counts.Flushes++;
        if (_random.Next(4) == 3)
            PrepareSpare();
        _readers.Check();
    }

    // Does the work of the flusher's thread, which these environments do not have.
    private void PrepareSpare()
    {
        var engine = _environment!.Internals.Engine;
        SpareJournalFiles.Prepare(engine);
        if (engine.DataFile.Unbuffered != null)
            engine.DataFile.WriteAhead(engine.DataFile.CapacityPages + ZeroedBytes / engine.PageSize, static () => true);
    }

    private void Submit(Content content)
    {
        History.Add(content);
        _submitted++;
        _counts.Commits++;
        Mark();
    }

    // A flush and a close make them durable, also where nothing is flushed.
    private void AcknowledgeLazies()
    {
        if (_lazy > 0)
            Acknowledge();
    }

    private void Acknowledge()
    {
        _lazy = 0;
        _acknowledged = _submitted;
        Mark();
    }

    /// <summary>A commit under way, and the newest content that its acknowledgement promises.</summary>
    private readonly record struct Pipelined(ValueTask Task, int Pinned);

    private void Mark() => _disk.Mark(new CrashMark(_acknowledged, _submitted));

    private void OnInProgress(TraceEntry entry)
    {
        var isOutsideOfLocks = _flush.IsOutsideOfLocks(entry);
        if (_pipeliningThread != 0)
            AcknowledgePipelined(entry, isOutsideOfLocks);
        _held.Pass(entry);
        _heldSecond.Pass(entry);
        if (!_flushing || !isOutsideOfLocks)
            return;
        _flushing = false;

        // Sometimes large commits: they continue in another journal file while the flush has not yet released the earlier ones.
        LockOrder.AsAnotherThread(() =>
        {
            for (var i = _random.Next(3); _random.GoesOn(i > 0); i--)
                Commit(_random.Next(4) == 3 ? _random.Next(10, 40) : _random.Next(1, 6));
        });
        _flushing = true;
    }
}
