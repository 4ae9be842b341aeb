using System.Diagnostics.CodeAnalysis;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;
using Voron.Torture.Model;
using Voron.Torture.Recorded;
using Voron.Torture.Schedules;

namespace Voron.Torture.Memory;

/// <summary>Runs one script in which one allocation fails, or all from one on.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each is looked at until it has completed, and its result is taken once.")]
internal sealed class MemoryFaultRun : IDisposable
{
    /// <summary>The limit of places that the flusher passes while the script waits: without memory it never finishes.</summary>
    private const int LongestIdle = 200;

    private static readonly TimeSpan ClosingLimit = TimeSpan.FromSeconds(20);

    private readonly MemoryWatch _watch;
    private readonly ScheduleModel _model;
    private readonly ModelPlace _place;
    private readonly StorageOptions _options;
    private readonly IReadOnlyList<MemoryOperation> _script;
    private readonly BigTree _big = new();
    private readonly WholeFixedTree _fixed = new();
    private readonly WholeIdTree _ids = new();
    private readonly WholeValueSetTree _sets = new();
    private readonly WholeRecordedStore _tables = new();
    private StorageEnvironment? _environment;
    private ReadTransaction? _held;

    public MemoryFaultRun(IReadOnlyList<MemoryOperation> script, StorageOptions options, int keys, bool inMemory, MemoryWatch watch)
    {
        _script = script;
        _options = options;
        _watch = watch;

        // A trim of the feed cuts it in transactions of its own.
        _model = new ScheduleModel(keys) { HasForeignTransactions = options.BackgroundFlush };
        _place = new ModelPlace(inMemory, 1 << 20);
    }

    /// <summary>The number of calls that reported a lack of memory.</summary>
    public int ReportedFailures { get; private set; }

    /// <summary>True if a trim has cut the feed.</summary>
    public bool HasCutFeed { get; private set; }

    /// <exception cref="BrokenPromiseException">The engine has failed.</exception>
    public void Run()
    {
        // There are no choices: the engine's own threads run when the script's thread waits, so the same number always means the same
        // allocation.
        var scheduler = new Scheduler(new PreemptingStrategy([])) { Memory = _watch };
        scheduler.Add("script", Work);
        scheduler.Run();
        using (var environment = _place.Open(_options))
        {
            CheckAll(environment, "opened again at the end");
            HasCutFeed = RecordedCheck.IsCut(environment);
        }

        Dispose();
        if (_watch.Leaked() is { } leak)
            throw new BrokenPromiseException(leak);
    }

    /// <summary>Releases everything, also after a failure.</summary>
    public void Dispose()
    {
        if (_environment is { } left)
        {
            // Threads that have lost their turns may be stuck anywhere.
            var closing = Task.Run(() =>
            {
                EndReader();
                left.Dispose();
            });
            Task.WaitAny([closing], ClosingLimit);
            _environment = null;
        }
        _place.Dispose();
    }

    private void Work()
    {
        try
        {
            Follow();
        }
        finally
        {
            // Closed here, where the engine's threads still have their turns: many runs fail while a failure is being shrunk.
            _watch.FailNoMore();
            EndReader();
            _environment?.Dispose();
            _environment = null;
        }
    }

    private void Follow()
    {
        var isOpen = TryOpen();
        foreach (var operation in _script)
        {
            if (!isOpen)
                break;
            Do(operation);
        }
        _watch.FailNoMore();
        if (!isOpen)
            _environment = _place.Open(_options);
        GoOn();
    }

    // There is memory again: everything has to work, and no failed operation may have left anything behind.
    private void GoOn()
    {
        CheckReaders("afterwards");
        DoUnguarded(new MemoryOperation(MemoryStep.Commit, 0b1011, 0));
        DoUnguarded(new MemoryOperation(MemoryStep.GroupCommit, 0b101, 0));
        DoUnguarded(new MemoryOperation(MemoryStep.Flush, 0, 0));
        EndReader();
        DoUnguarded(new MemoryOperation(MemoryStep.Flush, 0, 0));
        for (var i = 0; i < 2; i++)
        {
            DoUnguarded(new MemoryOperation(MemoryStep.Commit, 0b11, 0));
            DoUnguarded(new MemoryOperation(MemoryStep.Flush, 0, 0));
        }
        CheckAll(_environment!, "afterwards");
        using (var writing = _environment!.BeginWrite())
            writing.Dispose();
        var statistics = _environment.GetStatistics();
        BrokenPromiseException.Require(
            statistics is { PageVersions: 0, ScratchBytes: 0 },
            $"All is flushed, and {statistics.PageVersions} versions and {statistics.ScratchBytes} bytes of scratch are still there.");
    }

    private bool TryOpen()
    {
        var before = _watch.Refused;
        try
        {
            _environment = _place.Open(_options);
            return true;
        }
        catch (Exception e) when (_watch.Refused > before && IsMemory(e) && e is not OutOfMemoryException)
        {
            ReportedFailures++;
            return false;
        }
    }

    // An operation may fail only if it was itself refused memory: earlier failures have left nothing behind. A lack of memory does not
    // poison the environment, since no half-finished write has reached the disk.
    private void Do(MemoryOperation operation)
    {
        var before = _watch.Refused;
        try
        {
            DoUnguarded(operation);
        }
        catch (Exception e) when (_watch.Refused > before && IsMemory(e))
        {
            ReportedFailures++;
        }
        BrokenPromiseException.Require(
            _environment?.GetStatistics().IsPoisoned != true, "The environment is poisoned, and nothing has failed but an allocation.");
    }

    private void DoUnguarded(MemoryOperation operation)
    {
        switch (operation.Step)
        {
            case MemoryStep.Read:
                CheckReaders("reader");
                break;
            case MemoryStep.HoldReader:
                _held ??= _environment!.BeginRead();
                break;
            case MemoryStep.EndReader:
                EndReader();
                break;
            case MemoryStep.Flush:
                _environment!.Flush();
                break;
            case MemoryStep.JournalSnapshot:
                _environment!.Internals.WriteJournalSnapshot();
                break;
            case MemoryStep.ConfirmDurability:
                _environment!.Internals.ConfirmDurability();
                break;
            case MemoryStep.Trim:
                _environment!.Internals.TrimMemory();
                break;
            case MemoryStep.Idle:
                Idle();
                break;
            case MemoryStep.GroupCommit:
                RunGroupCommit(operation.Keys);
                break;
            case MemoryStep.Reopen:
                EndReader();
                _environment!.Dispose();
                if (!TryOpen())
                {
                    // Nothing can be done before there is memory.
                    _watch.FailNoMore();
                    _environment = _place.Open(_options);
                }
                CheckReaders("opened again");
                break;
            default:
                Write(operation);
                break;
        }
    }

    private void Write(MemoryOperation operation)
    {
        using var writing = _environment!.BeginWrite();
        var id = writing.TransactionId;
        var state = _model.Begin(id);
        Savepoint? savepoint = null;
        if (operation.OnFailure == 2)
        {
            Change(writing, state, operation.Keys >> 1);
            savepoint = writing.CreateSavepoint();
        }
        int[] before = [.. state];
        var whole = WholeOf(operation.Step);
        try
        {
            whole?.Change(writing);
            Change(writing, state, operation.Keys);
            if (operation.Step == MemoryStep.Savepoint)
            {
                int[] kept = [.. state];
                var inner = writing.CreateSavepoint();
                Change(writing, state, ~operation.Keys);
                inner.Rollback();
                state = kept;
            }
        }
        catch (Exception e) when (IsMemory(e) && operation.OnFailure != 0)
        {
            if (savepoint is { } place)
            {
                place.Rollback();
                state = before;
                whole = null;
            }
            else
            {
                RequireRefusal(writing, e);
                return;
            }
        }
        if (operation.Step == MemoryStep.RollBack)
            return;
        Commit(writing, id, state, operation.Step == MemoryStep.CommitAsync, whole);
    }

    private WholeTree? WholeOf(MemoryStep step) => step switch
    {
        MemoryStep.BigTransaction => _big,
        MemoryStep.FixedTransaction => _fixed,
        MemoryStep.IdTransaction => _ids,
        MemoryStep.ValueSetTransaction => _sets,
        MemoryStep.TableTransaction => _tables,
        _ => null,
    };

    private void Commit(WriteTransaction writing, long id, int[] state, bool isAsync, WholeTree? whole)
    {
        _model.Leave(id, state);
        try
        {
            if (isAsync)
            {
                var task = writing.CommitAsync();
                Testing.SchedulePoint.Current!.WaitUntil(() => task.IsCompleted, mayTimeOut: false);
                task.GetAwaiter().GetResult();
            }
            else
            {
                writing.Commit();
            }
            _model.Acknowledge(id);
            whole?.Changed(id);
        }
        catch (Exception e)
        {
            _model.TakeBack(id);
            if (IsMemory(e))
                RequireEnded(writing, e);
            throw;
        }
    }

    // The engine's own transactions have no handle that could be disposed of.
    private static void RequireEnded(WriteTransaction writing, Exception cause)
    {
        try
        {
            writing.GetTreeNames();
        }
        catch (ObjectDisposedException)
        {
            return;
        }
        throw new BrokenPromiseException("A transaction is open after its commit has found no memory.", cause);
    }

    private static void Idle()
    {
        var places = 0;
        Testing.SchedulePoint.Current!.WaitUntil(() => ++places > LongestIdle, mayTimeOut: true);
    }

    // A transaction in which a change has failed half-way can only be rolled back.
    private static void RequireRefusal(WriteTransaction writing, Exception cause)
    {
        try
        {
            writing.Commit();
        }
        catch (InvalidOperationException)
        {
            return;
        }
        throw new BrokenPromiseException("A transaction is committed in which a change has failed.", cause);
    }

    private void RunGroupCommit(int keys)
    {
        var tasks = new List<(ValueTask Task, GroupCommitPart Id)>();
        for (var i = 0; i < 2; i++)
        {
            var box = new GroupCommitPart();
            var own = keys << i;
            var task = _environment!.WriteAsync(writing =>
            {
                box.Id = writing.TransactionId;
                box.IsLeft = false;
                var state = _model.Begin(writing);
                box.Generation = _model.Generation;
                Change(writing, state, own);
                _model.Leave(box.Id, state);
                box.IsLeft = true;
            });
            tasks.Add((task, box));
        }
        Exception? failure = null;
        foreach ((var task, var box) in tasks)
        {
            Testing.SchedulePoint.Current!.WaitUntil(() => task.IsCompleted, mayTimeOut: false);
            try
            {
                task.GetAwaiter().GetResult();
                _model.Acknowledge(box.Id);
            }
            catch (Exception e)
            {
                failure = e;
                if (box.IsLeft && box.Generation == _model.Generation && box.Id == _model.Newest)
                    _model.TakeBack(box.Id);
            }
        }
        if (failure is not null)
            throw failure;
    }

    private void Change(WriteTransaction writing, int[] state, int keys)
    {
        var tree = writing.CreateTree(ScheduleWorld.TreeName);
        for (var key = 0; key < _model.Keys; key++)
        {
            if ((keys & (1 << key)) == 0 && key < _model.Keys - 1)
                continue;
            _model.Change(tree, state, key);
        }

        // Waiting puts are applied by the first read: a failure shows here.
        _ = tree.Count;
    }

    private void CheckReaders(string who)
    {
        if (_held is { } held)
            CheckContent(held, $"{who}, long open");
        using var reading = _environment!.BeginRead();
        CheckNewest(reading, who);
    }

    private void CheckNewest(ReadTransaction reading, string who)
    {
        BrokenPromiseException.Require(
            reading.TransactionId == _model.Newest || (_model.HasForeignTransactions && reading.TransactionId > _model.Newest),
            $"{who}: a reader begins on {reading.TransactionId}, and {_model.Newest} is the newest.");
        CheckContent(reading, who);
    }

    private void CheckContent(ReadTransaction reading, string who)
    {
        _model.CheckAll(reading, who);
        _big.Check(reading, who);
        _fixed.Check(reading, who);
        _ids.Check(reading, who);
        _sets.Check(reading, who);
        _tables.Check(reading, who);
    }

    private void CheckAll(StorageEnvironment environment, string who)
    {
        using var reading = environment.BeginRead();
        CheckNewest(reading, who);
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"{who}: {report}");
        var fault = RecordedCheck.FindFault(environment);
        BrokenPromiseException.Require(fault == null, $"{who}: {fault}");
    }

    private void EndReader()
    {
        _held?.Dispose();
        _held = null;
    }

    private static bool IsMemory(Exception e) =>
        e is OutOfMemoryException or StorageMemoryException or StorageFullException or StorageAccessException;

    private sealed class GroupCommitPart
    {
        public long Id { get; set; }

        public long Generation { get; set; }

        public bool IsLeft { get; set; }
    }
}
