using System.Diagnostics.CodeAnalysis;
using Voron.Flushing;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;
using Voron.Testing;
using Voron.Torture.Model;

namespace Voron.Torture.Schedules;

/// <summary>One schedule of one script, from opening the environment to closing it, and the check of the files that it leaves.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each is looked at until it has completed, and its result is taken once.")]
[SuppressMessage("Design", "CA1001", Justification = "It ends with Run; what has failed and may still be in use is left as it is.")]
internal sealed partial class ScheduleWorld
{
    public const string TreeName = "t";

    private const long PagesAhead = 256;
    private const int LongestWait = 4;

    /// <summary>One schedule in this many is followed by another backup of changes, which takes as long as a schedule.</summary>
    private const int BackUpAfterOneIn = 4;

    private readonly ScheduleScript _script;
    private readonly Scheduler _scheduler;
    private readonly ScheduleModel _model;
    private readonly ModelPlace _place;
    private readonly BlockWatch? _blocks;
    private readonly FailingJournal? _failing;
    private readonly MemoryWatch _memory = new();
    private readonly List<PendingCommit> _pending = [];
    private readonly List<Left> _killed = [];
    private StorageEnvironment? _environment;
    private bool _isOpen;
    private bool _isClosing;
    private int _running;

    public ScheduleWorld(ScheduleScript script, IScheduleStrategy strategy)
    {
        _script = script;
        _scheduler = new Scheduler(strategy) { Memory = _memory };
        _model = new ScheduleModel(script.KeyCount) { HasForeignTransactions = script.Ballast > 0 || script.Has(ScriptedKind.Compact) };
        _place = new ModelPlace(inMemory: true, script.Reservation);
        _blocks = script.Ballast > 0 ? new BlockWatch() : null;
        _failing = script.FailsWrites && _blocks is null ? new FailingJournal() : null;
    }

    public Scheduler Scheduler => _scheduler;

    public ScheduledBackups Backups => _backups;

    /// <summary>The number of compactions that came to their end.</summary>
    public int Compactions { get; private set; }

    private StorageEnvironment Environment => _environment!;

    /// <exception cref="BrokenPromiseException">The engine has failed.</exception>
    public void Run()
    {
        try
        {
            RunThreads();
            var least = _failing is { Fails: true } ? _model.Acknowledged : _model.Newest;
            LookAgain(new Left(_place, least, _model.Newest, _backups.Names), "reopened", _scheduler.Trace.Count % BackUpAfterOneIn == 0 ? _backups.MakeLast : null);
            foreach (var left in _killed)
                LookAgain(left, "after a kill");
            _backups.CheckRestored(_model);
        }
        catch
        {
            // A stuck thread may still use these: then they are not disposed.
            if (_scheduler.IsOver)
                SafeDisposal.Dispose([_environment, .. _killed.Select(left => left.Place), _place, _backups]);
            throw;
        }
        foreach (var left in _killed)
            left.Place.Dispose();
        _place.Dispose();
        _backups.Dispose();
        if (_memory.Leaked() is { } leak)
            throw new BrokenPromiseException(leak);
    }

    private void RunThreads()
    {
        _running = _script.Threads.Count;
        _scheduler.Add("opener", Open);
        for (var i = 0; i < _script.Threads.Count; i++)
        {
            var thread = _script.Threads[i];
            var who = $"thread {i}";
            _scheduler.Add(who, () => Work(who, thread), () => _isOpen);
        }
        _scheduler.Add("closer", Close, () => _running == 0 && _isOpen);
        _scheduler.Run();
    }

    private void Open()
    {
        _environment = _place.Open(_script.Options, _blocks is not null ? _blocks.Watch : _failing is null ? null : _failing.Watch);
        _environment.Internals.Engine.Journal!.OverlapsWrites = _script.OverlapsWrites;
        if (_script.Ballast > 0)
            SinkBallast();
        foreach (var scripted in _script.Setup)
            Do("setup", scripted);
        _backups.IsConcurrent = true;
        _isOpen = true;
    }

    // Leaves a data file that is mostly free.
    private void SinkBallast()
    {
        Do("setup", new Scripted(ScriptedKind.Commit, -1));
        using (var writing = Environment.BeginWrite())
        {
            writing.CreateTree("ballast").Put([1], new byte[_script.Ballast]);
            _model.Leave(writing.TransactionId, _model.Begin(writing.TransactionId));
            writing.Commit();
        }
        if (_script.IsBehindBallast)
            Do("setup", new Scripted(ScriptedKind.Commit, -1));
        using (var writing = Environment.BeginWrite())
        {
            writing.DeleteTree("ballast");
            _model.Leave(writing.TransactionId, _model.Begin(writing.TransactionId));
            writing.Commit();
        }
        Environment.Flush();
    }

    private void Work(string who, IReadOnlyList<Scripted> thread)
    {
        foreach (var scripted in thread)
        {
            try
            {
                Do(who, scripted);
            }
            catch (ObjectDisposedException) when (_isClosing)
            {
            }
            catch (EnvironmentPoisonedException) when (_failing is { Fails: true })
            {
            }
            SchedulePoint.Reach(SchedulePlace.Script);
            LookAtPending();
        }
        _running--;
    }

    private void Do(string who, Scripted scripted)
    {
        switch (scripted.Kind)
        {
            case ScriptedKind.Commit or ScriptedKind.CommitAsync or ScriptedKind.RollBack or ScriptedKind.Savepoint:
                Write(scripted);
                break;
            case ScriptedKind.CommitNothing or ScriptedKind.CommitNothingAsync:
                WriteNothing(who, scripted.Kind == ScriptedKind.CommitNothing);
                break;
            case ScriptedKind.GroupCommitBlocking:
                RunBlockingGroupCommit(scripted);
                break;
            case ScriptedKind.FailWrites:
                if (_failing is not null)
                    _failing.Fails = true;
                break;
            case ScriptedKind.GroupCommit or ScriptedKind.GroupCommitFailing:
                RunGroupCommit(scripted);
                break;
            case ScriptedKind.Await:
                Await();
                break;
            case ScriptedKind.Read:
                Read(who, scripted.Times);
                break;
            case ScriptedKind.Glance:
                Glance(who, scripted.Keys);
                break;
            case ScriptedKind.Fork:
                Fork(who, scripted.Times);
                break;
            case ScriptedKind.Flush:
                Environment.Flush();
                break;
            case ScriptedKind.JournalSnapshot:
                Environment.Internals.WriteJournalSnapshot();
                break;
            case ScriptedKind.PrepareSpare:
                SpareJournalFiles.Prepare(Environment.Internals.Engine);
                break;
            case ScriptedKind.GrowAhead:
                GrowAhead(Environment.Internals.Engine.DataFile);
                break;
            case ScriptedKind.ConfirmDurability:
                Environment.Internals.ConfirmDurability();
                break;
            case ScriptedKind.Trim:
                Environment.Internals.TrimMemory();
                break;
            case ScriptedKind.Verify:
                RequireSound(Environment, who);
                break;
            case ScriptedKind.Reclaim:
                Environment.ReclaimSpace();
                break;
            case ScriptedKind.Kill:
                _killed.Add(new Left(_place.Copy(), _model.Acknowledged, _model.Newest, _backups.Names));
                break;
            case ScriptedKind.Close:
                _isClosing = true;
                Environment.Dispose();
                break;
            default:
                DoLong(who, scripted);
                break;
        }
    }

    private void Write(Scripted scripted)
    {
        using var writing = Environment.BeginWrite();
        var id = writing.TransactionId;
        var state = _model.Begin(id);
        _model.CheckAttached(writing, state, "writer");
        Change(writing, state, scripted.Keys);
        SchedulePoint.Reach(SchedulePlace.Script);
        if (scripted.Kind == ScriptedKind.RollBack)
            return;
        if (scripted.Kind == ScriptedKind.Savepoint)
        {
            int[] kept = [.. state];
            var savepoint = writing.CreateSavepoint();
            Change(writing, state, ~scripted.Keys);
            savepoint.Rollback();
            savepoint.Release();
            state = kept;
            _model.CheckAttached(writing, state, "writer, rolled back,");
        }
        _model.Leave(id, state);
        if (scripted.Kind == ScriptedKind.CommitAsync)
        {
            var pending = new PendingCommit(id, fails: false);
            pending.Task = writing.CommitAsync();
            _pending.Add(pending);
            return;
        }
        Commit(writing, id);
    }

    private void Commit(WriteTransaction writing, long id)
    {
        try
        {
            writing.Commit();
        }
        catch (EnvironmentPoisonedException e)
        {
            _model.Fail(id, e.Outcome);
            throw;
        }
        _model.Acknowledge(id);
    }

    // Once the empty commit is acknowledged, every commit that it builds on must be durable and visible.
    private void WriteNothing(string who, bool waits)
    {
        using var writing = Environment.BeginWrite();
        var id = writing.TransactionId - 1;
        _model.CheckAttached(writing, _model.StateOf(id), who);
        if (writing.TryOpenTree(TreeName, out var tree))
        {
            for (var key = 0; key < _model.Keys; key++)
                _model.Check(tree, id, key, who);
        }
        else
        {
            _model.CheckEmpty(id, who);
        }
        SchedulePoint.Reach(SchedulePlace.Script);
        if (waits)
        {
            Commit(writing, id);
            return;
        }
        var pending = new PendingCommit(id, fails: false);
        pending.Task = writing.CommitAsync();
        _pending.Add(pending);
    }

    private void RunBlockingGroupCommit(Scripted scripted)
    {
        long id = 0;
        try
        {
            Environment.Write(writing => id = WriteKeys(writing, scripted.Keys));
        }
        catch (EnvironmentPoisonedException e)
        {
            if (id > 0)
                _model.Fail(id, e.Outcome);
            throw;
        }
        _model.Acknowledge(id);
    }

    private long WriteKeys(WriteTransaction writing, int keys)
    {
        var id = writing.TransactionId;
        var state = _model.Begin(writing);
        Change(writing, state, keys);
        _model.Leave(id, state);
        return id;
    }

    private void RunGroupCommit(Scripted scripted)
    {
        for (var i = 0; i < scripted.Times; i++)
        {
            var fails = scripted.Kind == ScriptedKind.GroupCommitFailing && i == scripted.Times - 1;
            var pending = new PendingCommit(0, fails);
            var keys = scripted.Keys << i;
            pending.Task = Environment.WriteAsync(writing =>
            {
                pending.Id = writing.TransactionId;
                var state = _model.Begin(writing);
                _model.CheckAttached(writing, state, "operation");
                Change(writing, state, keys);
                if (fails)
                    throw new PlannedException();
                _model.Leave(pending.Id, state);
            });
            _pending.Add(pending);
        }
        if (scripted.Kind == ScriptedKind.GroupCommit)
            Await();
    }

    private void Change(WriteTransaction writing, int[] state, int keys)
    {
        var tree = writing.CreateTree(TreeName);
        var isChanged = false;
        for (var key = 0; key < _model.Keys; key++)
        {
            if ((keys & (1 << key)) == 0 && (key < _model.Keys - 1 || isChanged))
                continue;
            isChanged = true;
            _model.Change(tree, state, key);
        }
        _model.Attach(writing, state);
    }

    private void Await()
    {
        while (_pending.Count > 0)
        {
            var pending = _pending[0];
            SchedulePoint.Current!.WaitUntil(() => pending.IsCompleted, mayTimeOut: false);
            LookAtPending();
        }
    }

    // Commits complete in the order of their ids: an incomplete commit is out of order if a later one has completed.
    private void LookAtPending()
    {
        var newest = _pending.Where(pending => !pending.IsGroupCommit && pending.IsCompleted).Select(pending => pending.Id).DefaultIfEmpty().Max();
        var late = _pending.Find(pending => !pending.IsGroupCommit && pending.Id < newest && !pending.IsCompleted);
        BrokenPromiseException.Require(late is null, $"Commit {newest} is acknowledged before commit {late?.Id}.");
        for (var i = _pending.Count - 1; i >= 0; i--)
        {
            var pending = _pending[i];
            if (!pending.IsCompleted)
                continue;
            _pending.RemoveAt(i);
            try
            {
                if (pending.Complete(_isClosing))
                    _model.Acknowledge(pending.Id);
            }
            catch (EnvironmentPoisonedException e) when (_failing is { Fails: true })
            {
                if (pending.Id > 0)
                    _model.Fail(pending.Id, e.Outcome);
            }
        }
    }

    private void Read(string who, int times)
    {
        using var reading = BeginRead(who);
        for (var i = 0; i < times; i++)
        {
            _model.CheckAll(reading, who);
            _model.CheckAttached(reading, who);
            SchedulePoint.Reach(SchedulePlace.Script);
        }
    }

    private void Glance(string who, int keys)
    {
        for (var time = 0; time < LongestWait; time++)
        {
            using var reading = BeginRead(who);
            _model.CheckAttached(reading, who);
            if (!reading.TryOpenTree(TreeName, out var tree))
            {
                _model.CheckEmpty(reading.TransactionId, who);
                continue;
            }
            for (var key = 0; key < _model.Keys; key++)
            {
                if ((keys & (1 << key)) != 0)
                    _model.Check(tree, reading.TransactionId, key, who);
            }
        }
    }

    private ReadTransaction BeginRead(string who)
    {
        var least = Math.Max(_model.Acknowledged, _model.Seen);
        var reading = Environment.BeginRead();
        var id = reading.TransactionId;
        BrokenPromiseException.Require(id >= least, $"{who} begins on transaction {id}, when {least} was acknowledged or seen before.");
        BrokenPromiseException.Require(
            id <= _model.Newest || _model.HasForeignTransactions, $"{who} begins on transaction {id}, which no thread has made.");
        _model.See(id);
        return reading;
    }

    private void Close()
    {
        Await();
        if (!_isClosing)
        {
            Read("closer", 1);
            RequireSound(Environment, "before closing");
            _blocks?.Check(Environment.Internals.Engine.DataFile.CapacityPages * Environment.Options.PageSizeOrDefault);
        }
        Environment.Dispose();
    }

    private static void RequireSound(StorageEnvironment environment, string who)
    {
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"{who}: {report}");
    }
}
