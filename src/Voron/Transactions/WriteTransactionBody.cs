using System.Diagnostics;
using Voron.Journal;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>The write transaction behind its handles: trees, savepoints, commit and rollback. One object per environment.</summary>
/// <remarks>
/// <code>
///   free ──Begin──▶ open ──Submit──▶ free (the record is under way)
///                    │ ▲
///      an operation  │ │ rollback to an earlier savepoint
///      fails midway  ▼ │
///                  broken ──Rollback──▶ free
/// </code>
/// Everything here runs while the writer is held.
/// </remarks>
internal sealed partial class WriteTransactionBody : TransactionBody, ITreeFinder, ITreePeeker
{
    private readonly Engine _engine;
    private readonly SingleWriter _writer;
    private readonly Parking<WriteTransactionBody> _parking;
    private readonly CommitSubmission _submission;
    private readonly SavepointStack _savepoints = new();
    private readonly SavedTrees _savedTrees;
    private StackTrace? _openedAt;

    // 1 while a transaction is open: the caller that changes it to 0 ends the transaction.
    private int _open;

    // The writer is held while a transaction is open, and the object is parked while none is.
    public WriteTransactionBody(Engine engine, SingleWriter writer, Parking<WriteTransactionBody> parking)
        : this(engine, writer, parking, new SavedTrees())
    {
    }

    private WriteTransactionBody(Engine engine, SingleWriter writer, Parking<WriteTransactionBody> parking, SavedTrees savedTrees)
        : base(writer.WritePages, writer.WritePages.KeyHeads, new WriteContext(engine, writer.WritePages), savedTrees, engine.Options.TimeProvider)
    {
        _engine = engine;
        _writer = writer;
        _parking = parking;
        _savedTrees = savedTrees;
        Context = Write!;
        Context.OperationSavepoint.Create = () => BeginSavepoint(isNested: false);
        Context.Recorder.Trees = this;
        Context.Packer.Trees = this;
        WritePages.Unpacker.Catalog = Catalog.ToHeader;
        Operations = new GroupOperationTrees(WritePages.Unpacker.Arena.Reset);
        _submission = new CommitSubmission(engine, writer);
    }

    ~WriteTransactionBody()
    {
        if (Volatile.Read(ref _open) != 0)
            ScheduleEndAbandoned();
    }

    /// <summary>The pages, the waiting puts and the failure, if any, of the open transaction.</summary>
    public WriteContext Context { get; }

    /// <summary>Calls the user's observers and logger; no lock is held.</summary>
    public void CallUser()
    {
        _engine.Observers.CallHere();
        GuardedLogger.WriteHere(_engine.Logger);
    }

    /// <summary>The copy-on-write pages.</summary>
    public CopyOnWritePages WritePages => Context.Pages;

    /// <summary>When the commit is acknowledged. Durable at the beginning, for the engine's own transactions.</summary>
    public Durability Durability { get; set; }

    /// <summary>The group-commit operation that runs in the transaction, if there is one.</summary>
    public GroupOperationTrees Operations { get; }

    /// <summary>Starts a transaction. The writer is held. Called by <see cref="WriteTransactionPool"/> only.</summary>
    public void Begin(StackTrace? openedAt)
    {
        _writer.AssertHeld();
        Debug.Assert(Volatile.Read(ref _open) == 0, "The last transaction must have ended before another one begins.");
        Debug.Assert(_savepoints.Count == 0 && _savedTrees.Count == 0, "No savepoint of the last transaction may be left.");
        _writer.VersionReclaimer.Reclaim(needsOldest: _engine.DataFile.HasRetiredMaps);
        if (_engine.DataFile.HasRetiredMaps)
            _engine.DataFile.ReleaseMaps(_writer.VersionReclaimer.OldestSequence);
        WritePages.Begin(_writer.Submitted);
        BeginGeneration(_writer.Submitted.Catalog);
        Context.Begin(_writer.SubmittedAttachments);
        Durability = Durability.Durable;
        _openedAt = openedAt;
        Volatile.Write(ref _open, 1);
    }

    /// <summary>Claims the right to end the transaction; returns true for one caller only.</summary>
    public bool TryClaim() => Interlocked.Exchange(ref _open, 0) != 0;

    // Called by the finalizer: the transaction is open, and no caller can end it any more.
    private void ScheduleEndAbandoned()
    {
        try
        {
            _ = Task.Delay(_engine.Options.LeakGrace).ContinueWith(
                static (_, state) => ((WriteTransactionBody)state!).EndAbandoned(), this,
                CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
        }
        catch (Exception e) when (e is OutOfMemoryException or ObjectDisposedException)
        {
            // An exception from a finalizer would end the process. The writer stays taken, and waiting callers find out by their timeouts.
        }
    }

    /// <summary>Rolls back a transaction whose handles are all gone, on a pool thread.</summary>
    public void EndAbandoned()
    {
        if (!TryClaim())
            return;
        Interlocked.Increment(ref _engine.Counters.LeakedWriters);
        TransactionLog.WriterLeaked(_engine.Logger, _engine.Disk.Path, WritePages.Id, TransactionLog.Describe(_openedAt));
        try
        {
            RollbackClaimed();
        }
        catch (Exception e)
        {
            _engine.Poison.Set(e);
        }

        GC.ReRegisterForFinalize(this);
    }

    /// <summary>Begins a savepoint.</summary>
    /// <param name="isNested">True for a nested transaction, whose changes are kept only if it is released explicitly.</param>
    /// <returns>Its number, which no other savepoint of the environment has.</returns>
    public long CreateSavepoint(bool isNested = false)
    {
        Context.ThrowIfBroken();
        Context.UnfinishedPuts.ThrowIfAny("A savepoint");
        Context.OperationSavepoint.Ensure();
        Context.Buffers.Apply();
        return BeginSavepoint(isNested);
    }

    private long BeginSavepoint(bool isNested)
    {
        Debug.Assert(!Context.IsBroken, "A savepoint in a broken transaction would make its rollback hide the failure.");
        // Ensured first, so that nothing is begun if there is no memory for it.
        _savepoints.EnsureRoom();
        WritePages.Mark();
        _savedTrees.Begin(WritePages.InnermostStamp);
        var id = _savepoints.NextId();
        _savepoints.Add(new SavepointFrame(
            id, isNested, WritePages.InnermostStamp, _savedTrees.Count, TreeCount, Catalog.ToHeader(), Context.Attached));
        return id;
    }

    /// <summary>Undoes the changes since the savepoint, which stays open; the savepoints inside it end.</summary>
    public void RollbackToSavepoint(long id)
    {
        var index = _savepoints.Find(id);
        var frame = _savepoints[index];
        Context.UnfinishedPuts.Undo(toSavepoint: true);
        Context.RollbackCount++;
        Context.Buffers.Discard();
        try
        {
            // The cursors save their keys while their pages still exist.
            Catalog.ReleaseCursors();
            for (var i = frame.FirstSavedTree; i < _savedTrees.Count; i++)
                TreeAt(_savedTrees[i].Index).StateAsIs.ReleaseCursors();
            WritePages.RollbackTo(index);
        }
        catch (Exception e) when (Context.Break(e))
        {
            throw;
        }

        Catalog.Load(frame.Catalog);
        CloseTrees(frame.Trees);
        for (var i = _savedTrees.Count - 1; i >= frame.FirstSavedTree; i--)
            Restore(_savedTrees[i]);
        _savedTrees.Truncate(frame.FirstSavedTree, frame.Stamp);
        _savepoints.Truncate(index + 1);
        Context.NoteRolledBack(frame.Attached);
    }

    /// <summary>Ends the savepoint and those inside it, and keeps the changes.</summary>
    /// <exception cref="InvalidOperationException">A put is pending; the value that it will write must be kept too.</exception>
    /// <exception cref="InvalidOperationException">A nested transaction inside it is open; its changes would be kept uncommitted.</exception>
    public void ReleaseSavepoint(long id)
    {
        Context.UnfinishedPuts.ThrowIfAny("The release of a savepoint, or the commit of a nested transaction,");
        var index = _savepoints.Find(id);
        _savepoints.ThrowIfNestedOpen(index + 1, "The enclosing savepoint or nested transaction cannot end");
        Release(index);
    }

    /// <summary>
    /// As <see cref="ReleaseSavepoint"/>, but undoes everything since the outermost nested transaction inside it that is still open. If there
    /// is none, a pending put continues as part of the scope that surrounds the savepoint.
    /// </summary>
    public void EndSavepoint(long id)
    {
        var index = _savepoints.Find(id);
        var nested = _savepoints.FindNested(index + 1);
        if (nested >= 0)
            RollbackToSavepoint(_savepoints[nested].Id);
        Release(index);
    }

    public bool HasSavepoint(long id) => _savepoints.IndexOf(id) >= 0;

    /// <summary>
    /// Submits the transaction, and returns when its record is durable or, if it is lazy, published. The only place where a thread waits for a
    /// commit.
    /// </summary>
    /// <param name="notifiesObservers">True to call the observers of commits when the record is durable.</param>
    /// <param name="progress">Receives the progress of the commit.</param>
    /// <param name="submitted">Called before the thread waits for the journal. Throws nothing.</param>
    /// <inheritdoc cref="Submit"/>
    public void Commit(bool notifiesObservers, ref CommitProgress progress, Action? submitted = null)
    {
        var journal = _engine.Journal!;
        var isLazy = IsLazy;
        var sequence = Submit(null, ref progress);
        if (isLazy && journal.TryLeave(sequence))
            return;
        submitted?.Invoke();
        journal.WaitUntilDurable(sequence, notifiesObservers);
    }

    /// <summary>Submits the transaction, and returns a task that completes when its record is durable or, if it is lazy, published.</summary>
    /// <inheritdoc cref="Submit"/>
    /// <exception cref="OutOfMemoryException">There is no memory for the commit; the transaction has been rolled back.</exception>
    public ValueTask CommitAsync(ref CommitProgress progress)
    {
        CommitCompletion completion;
        try
        {
            completion = CommitCompletion.Rent();
        }
        catch
        {
            // Like a failed submission: the engine's own transactions have no handle whose Dispose would end them.
            Rollback();
            throw;
        }

        var task = completion.Task;
        var journal = _engine.Journal!;
        if (!IsLazy)
        {
            if (Submit(completion, ref progress) > journal.DurableSequence)
                journal.WriteInBackground();
            return task;
        }

        var sequence = Submit(null, ref progress);
        if (journal.TryLeave(sequence))
        {
            completion.SetResult();
            return task;
        }

        journal.CompleteWhenDurable(sequence, completion);
        journal.WriteInBackground();
        return task;
    }

    // A volatile journal writes immediately.
    private bool IsLazy =>
        (Durability == Durability.Lazy || PlantedFault.AcknowledgeBeforeWrite) && !_engine.Journal!.WritesAtOnce;

    /// <summary>
    /// Collects the transaction in a record and submits it to the journal. The transaction has then ended, and the writer is released.
    /// </summary>
    /// <returns>
    /// The sequence of the record to wait for. When nothing has changed, the sequence of the state on which the transaction began: the data that
    /// it read is durable no earlier.
    /// </returns>
    /// <exception cref="InvalidOperationException">A put is pending, or a nested transaction is open; the transaction stays open.</exception>
    private long Submit(CommitCompletion? completion, ref CommitProgress progress)
    {
        var began = _engine.Observers.Durations.Begin(TimedWork.Commit);
        Context.UnfinishedPuts.ThrowIfAny("The commit");
        _savepoints.ThrowIfNestedOpen(0, "The transaction cannot be committed");
        if (!TryClaim())
            ThrowEnded();
        var (sequence, hasChanges) = (0L, false);
        try
        {
            Context.ThrowIfBroken();
            SaveTrees();
            hasChanges = WritePages.HasChanges || Context.Attached != _writer.SubmittedAttachments;
            if (hasChanges)
            {
                WritePages.State.TransactionId = WritePages.Id;
                WritePages.State.Catalog = Catalog.ToHeader();
                sequence = _submission.Submit(Context, completion, IsLazy, began, ref progress);
            }
        }
        catch
        {
            RollbackClaimed();
            throw;
        }

        progress.IsSubmitted = true;
        if (!hasChanges)
            return EndUnchanged(completion);
        SchedulePoint.Reach(SchedulePlace.Queued);

        // The record is under way: from here on, nothing is undone, and the writer is released in any case.
        _submission.NoteSuperseded(Context);
        _submission.AssertOrder(Context, sequence);
        _writer.NoteSubmitted(WritePages.State, Context.Attached, sequence);
        if (_engine.Journal!.IsPublishedEarly(sequence))
            _engine.Observers.Durations.End(TimedWork.Commit, began);
        OfferWork();
        End(committed: true);
        return sequence;
    }

    // Work in the background that the commit asks for. A later commit asks again for what was not begun.
    private void OfferWork()
    {
        try
        {
            if (Context.Recorder.RecordedBytes > 0)
                _engine.Above?.OnRecorded(Context.Recorder.RecordedBytes);
            foreach (var treeId in Context.Packer.TakeWanted())
                _engine.OnTrainingWanted?.Invoke(treeId);
        }
        catch (OutOfMemoryException)
        {
            // The commit does not depend on it.
        }
    }

    // The transaction may have read changes that are submitted but not yet durable. Answering "it already exists" promises that it stays, unless
    // the transaction is lazy.
    private long EndUnchanged(CommitCompletion? completion)
    {
        var sequence = PlantedFault.AcknowledgeEmptyAtOnce ? 0 : _writer.SubmittedSequence;
        End(committed: false);
        if (completion != null)
            _engine.Journal!.CompleteWhenDurable(sequence, completion);
        return sequence;
    }

    /// <summary>Undoes all changes and releases the writer.</summary>
    public void Rollback()
    {
        if (TryClaim())
            RollbackClaimed();
    }

    /// <summary>As <see cref="Rollback"/>, for the caller that has claimed the transaction.</summary>
    public void RollbackClaimed()
    {
        Context.UnfinishedPuts.Undo(toSavepoint: false);
        _engine.Counters.RolledBackTransactions++;
        End(committed: false);
        _engine.Observers.CallElsewhere();
    }

    private void End(bool committed)
    {
        Debug.Assert(Volatile.Read(ref _open) == 0, "A transaction must be claimed before it ends.");
        if (committed || PlantedFault.KeepFailedVersions)
            WritePages.End();
        else
            WritePages.Rollback();
        Context.End();
        _savepoints.Clear();
        _savedTrees.Clear();
        _openedAt = null;
        Operations.End();
        EndGeneration();
        _writer.AssertHeld();
        _parking.Put(this);
        try
        {
            _writer.Release();
        }
        finally
        {
            // Last, because this may release everything that this class uses.
            _engine.Users.RemoveWriter();
        }
    }

    private void SaveTrees()
    {
        Context.Buffers.Apply();
        for (var i = 0; i < TreeCount; i++)
        {
            var tree = TreeAt(i);
            if (!tree.IsDropped && tree.SettledState().Changed)
                Trees.Catalog.Save(WritePages, Catalog, tree.Name, tree.SettledState());
        }
    }

    private void Restore(in SavedTree saved)
    {
        // A tree that was opened after the savepoint has been closed.
        var tree = TreeAt(saved.Index);
        tree.Restore(saved);
        if (saved.Index >= TreeCount)
            return;
        SetDropped(tree, saved.IsDropped);
        if (tree.NameBytes != saved.Name)
            SetName(tree, saved.Name);
    }

    private void Release(int index)
    {
        // If the transaction can only be rolled back, the waiting puts stay until then: applying them would fail again, perhaps in a Dispose.
        if (!Context.IsBroken)
            Context.Buffers.Apply();
        WritePages.Release(index);
        if (index == 0)
            _savedTrees.Release(0, 0);
        else
            _savedTrees.Release(_savepoints[index - 1].FirstSavedTree, _savepoints[index - 1].Stamp);
        _savepoints.Truncate(index);
    }
}
