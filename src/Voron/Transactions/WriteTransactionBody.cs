using System.Diagnostics;
using Voron.Format;
using Voron.Journal;
using Voron.Primitives;
using Voron.Trees;

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
internal sealed class WriteTransactionBody : TransactionBody
{
    /// <summary>The number of journal bytes kept free beyond the next flush list, for padding and durability markers.</summary>
    private const long SlackBytes = 16 << 10;

    /// <summary>The maximum number of list entries whose memory is kept for the next transaction.</summary>
    private const int MaxKeptEntries = 1024;

    private readonly Engine _context;
    private readonly Writer _writer;
    private readonly TransactionPacker _packer;
    private readonly List<SavepointFrame> _savepoints = [];
    private readonly TreeLog _log = new();
    private readonly List<OpenTree> _treesOfOperation = [];
    private Exception? _broken;
    private StackTrace? _openedAt;

    // 1 while a transaction is open: the caller that changes it to 0 ends the transaction.
    private int _open;
    private long _nextSavepointId = 1;
    private long _lastOperation;

    public WriteTransactionBody(Engine context, Writer writer)
    {
        _context = context;
        _writer = writer;
        WritePages = writer.WritePages;
        LargeValues = new LargeValueWriter(context, WritePages);
        _packer = new TransactionPacker(context);
    }

    ~WriteTransactionBody()
    {
        if (Volatile.Read(ref _open) != 0)
            _writer.Abandoned(this);
    }

    public override PageReader Pages => WritePages;

    public JournalWriter Journal => _context.Journal!;

    /// <summary>Calls the user's observers and logger; no lock is held.</summary>
    public void CallUser()
    {
        _context.Observers.CallHere();
        GuardedLogger.WriteHere(_context.Logger);
    }

    public CopyOnWritePages WritePages { get; }

    public LargeValueWriter LargeValues { get; }

    /// <summary>Increases with each rollback to a savepoint.</summary>
    public long RollbackCount { get; private set; }

    /// <summary>The puts of the open transaction that are still reading their streams.</summary>
    public PendingPuts Puts { get; } = new();

    /// <summary>The buffers for waiting puts.</summary>
    public PutBuffers Buffers { get; } = new();

    /// <summary>The group-commit operation that runs in the transaction; 0 when there is none. No two have the same number.</summary>
    public long Operation { get; private set; }

    protected override TreeLog? Log => _log;

    /// <summary>Starts a transaction. The writer is held. Called by <see cref="Writer"/> only.</summary>
    public void Begin(StackTrace? openedAt)
    {
        _writer.VersionReclaimer.Reclaim();
        if (_context.DataFile.HasRetiredMaps)
            _context.DataFile.ReleaseMaps(_writer.VersionReclaimer.OldestSequence);
        WritePages.Begin(_writer.Submitted);
        BeginGeneration(_writer.Submitted.Catalog);
        _broken = null;
        _openedAt = openedAt;
        Volatile.Write(ref _open, 1);
    }

    /// <summary>Claims the right to end the transaction; returns true for one caller only.</summary>
    public bool TryClaim() => Interlocked.Exchange(ref _open, 0) != 0;

    /// <summary>Rolls back a transaction whose handles are all gone, on a thread of the pool.</summary>
    public void EndAbandoned()
    {
        if (!TryClaim())
            return;
        _writer.EndAbandoned(this, _openedAt);
        GC.ReRegisterForFinalize(this);
    }

    /// <summary>Begins one of several operations that share the transaction: it has handles of its own, which end with it.</summary>
    public WriteTransaction BeginOperation()
    {
        EndOperation();
        Operation = ++_lastOperation;
        return new WriteTransaction(this);
    }

    /// <summary>Ends the handles of the operation, including those of trees, cursors and streams. A later operation opens its own.</summary>
    public void EndOperation()
    {
        Operation = 0;
        if (PlantedFault.LetHandlesEscape)
            return;
        foreach (var tree in _treesOfOperation)
            tree.EndHandles();
        _treesOfOperation.Clear();
        if (_treesOfOperation.Capacity > MaxKeptEntries)
            _treesOfOperation.Capacity = 0;
    }

    public OpenTree? OpenTree(ReadOnlySpan<byte> name)
    {
        var open = FindOpen(name);
        if (open != null)
            return Note(open);
        return Trees.Catalog.TryFind(Catalog, WritePages, name, out var header) ? Note(Add(name, header)) : null;
    }

    /// <summary>Opens the tree, or creates it when there is none.</summary>
    public OpenTree CreateTree(ReadOnlySpan<byte> name)
    {
        var tree = OpenTree(name);
        if (tree != null)
            return tree;

        ThrowIfBroken();
        if (WritePages.State.NextTreeId == uint.MaxValue)
        {
            throw new StorageFullException(
                $"No tree can be made: the environment has given out all {uint.MaxValue} tree ids, and none is used twice. " +
                "Copy the trees into a new environment.");
        }

        try
        {
            var header = new TreeHeader { TreeId = WritePages.State.NextTreeId };
            Trees.Catalog.Create(WritePages, Catalog, name, header);
            WritePages.State.NextTreeId++;
            return Note(Add(name, header));
        }
        catch (Exception e) when (Break(e))
        {
            throw;
        }
    }

    public bool DeleteTree(ReadOnlySpan<byte> name)
    {
        var tree = OpenTree(name);
        if (tree == null)
            return false;

        Puts.ThrowIfAny(nameof(WriteTransaction.DeleteTree), tree);
        ThrowIfBroken();
        try
        {
            tree.BeforeChange();
            Trees.Catalog.Delete(WritePages, Catalog, name, tree.State);
            SetDropped(tree, isDropped: true);
            return true;
        }
        catch (Exception e) when (Break(e))
        {
            throw;
        }
    }

    public bool RenameTree(ReadOnlySpan<byte> name, ReadOnlySpan<byte> newName)
    {
        Trees.Catalog.CheckName(newName);
        var tree = OpenTree(name);
        if (tree == null)
            return false;
        if (!name.SequenceEqual(newName) && TreeReader.Contains(Catalog, WritePages, newName))
            throw new ArgumentException($"There is a tree '{Trees.Catalog.Decode(newName)}' already.", nameof(newName));

        ThrowIfBroken();
        try
        {
            tree.BeforeChange();
            var newBytes = newName.ToArray();
            Trees.Catalog.Rename(WritePages, Catalog, name, newName);
            SetName(tree, newBytes);
            tree.State.Changed = true;
            return true;
        }
        catch (Exception e) when (Break(e))
        {
            throw;
        }
    }

    /// <summary>Notes that an operation failed midway: trees may be half changed. Always returns false, for use in a filter.</summary>
    public bool Break(Exception cause)
    {
        if (!PlantedFault.CommitAfterNoMemory || cause is not OutOfMemoryException)
            _broken ??= cause;
        return false;
    }

    /// <summary>True when the open transaction, or a part of it, can only be rolled back.</summary>
    public bool IsBroken => _broken != null;

    /// <summary>The failure that has broken the open transaction, or null.</summary>
    public Exception? BrokenBy => _broken;

    public void ThrowIfBroken()
    {
        if (_broken != null)
        {
            throw new InvalidOperationException(
                $"An earlier operation of this transaction failed inside ({_broken.Message}): it can only be rolled back, as a whole or to a savepoint.",
                _broken);
        }
    }

    /// <summary>Begins a savepoint.</summary>
    /// <param name="isNested">True for a nested transaction, whose changes are kept only if it is released explicitly.</param>
    /// <returns>Its number, which no other savepoint of the environment has.</returns>
    public long CreateSavepoint(bool isNested = false)
    {
        ThrowIfBroken();
        Puts.ThrowIfAny("A savepoint");
        Buffers.Apply();

        // Ensured first, so that nothing is begun if there is no memory for it.
        _savepoints.EnsureCapacity(_savepoints.Count + 1);
        WritePages.Mark();
        _log.Begin(WritePages.InnermostStamp);
        var id = _nextSavepointId++;
        _savepoints.Add(new SavepointFrame(id, isNested, WritePages.InnermostStamp, _log.Count, TreeCount, Catalog.ToHeader()));
        return id;
    }

    /// <summary>Undoes the changes since the savepoint, which stays open; the savepoints inside it end.</summary>
    public void RollbackToSavepoint(long id)
    {
        var index = FindSavepoint(id);
        var frame = _savepoints[index];
        Puts.Undo(toSavepoint: true);
        RollbackCount++;
        Buffers.Discard();
        try
        {
            // The cursors save their keys while their pages still exist.
            Catalog.ReleaseCursors();
            for (var i = frame.FirstSavedTree; i < _log.Count; i++)
                _log[i].Tree.StateAsIs.ReleaseCursors();
            WritePages.RollbackTo(index);
        }
        catch (Exception e) when (Break(e))
        {
            throw;
        }

        Catalog.Load(frame.Catalog);
        CloseTrees(frame.Trees);
        for (var i = _log.Count - 1; i >= frame.FirstSavedTree; i--)
            Restore(_log[i]);
        _log.Truncate(frame.FirstSavedTree, frame.Stamp);
        _savepoints.RemoveRange(index + 1, _savepoints.Count - index - 1);
        _broken = null;
    }

    /// <summary>Ends the savepoint and those inside it, and keeps the changes.</summary>
    /// <exception cref="InvalidOperationException">A put is pending; the value that it will write must be kept too.</exception>
    /// <exception cref="InvalidOperationException">A nested transaction inside it is open; its changes would be kept uncommitted.</exception>
    public void ReleaseSavepoint(long id)
    {
        Puts.ThrowIfAny("The release of a savepoint, or the commit of a nested transaction,");
        var index = FindSavepoint(id);
        ThrowIfNestedOpen(index + 1, "The savepoint or nested transaction around it cannot end");
        Release(index);
    }

    /// <summary>
    /// As <see cref="ReleaseSavepoint"/>, but undoes everything since the outermost nested transaction inside it that is still open. If there
    /// is none, a pending put continues as part of the scope that surrounds the savepoint.
    /// </summary>
    public void EndSavepoint(long id)
    {
        var index = FindSavepoint(id);
        var nested = FindNested(index + 1);
        if (nested >= 0)
            RollbackToSavepoint(_savepoints[nested].Id);
        Release(index);
    }

    public bool HasSavepoint(long id) => IndexOfSavepoint(id) >= 0;

    /// <summary>
    /// Packs the transaction and submits it to the journal. The transaction has then ended, and the writer is released.
    /// </summary>
    /// <returns>
    /// The sequence of the record to wait for. When nothing has changed, the sequence of the state on which the transaction began: the data that
    /// it read is durable no earlier.
    /// </returns>
    /// <exception cref="InvalidOperationException">A put is pending, or a nested transaction is open; the transaction stays open.</exception>
    public long Submit(CommitCompletion? completion)
    {
        Puts.ThrowIfAny("The commit");
        ThrowIfNestedOpen(0, "The commit is refused");
        if (!TryClaim())
            ThrowEnded();
        JournalEntry? entry = null;
        var journal = _context.Journal!;
        var sequence = 0L;
        bool hasChanges;
        try
        {
            ThrowIfBroken();
            SaveTrees();
            hasChanges = WritePages.HasChanges;
            if (hasChanges)
            {
                WritePages.State.TransactionId = WritePages.Id;
                WritePages.State.Catalog = Catalog.ToHeader();
                journal.ReservedBytes = FlushListReserve();
                journal.ReservedImageBytes = FlushImagesReserve();
                entry = _packer.Pack(WritePages);
                MakeValuesDurable();
                entry.Completion = completion;
                _writer.VersionReclaimer.EnsureRoom(WritePages.ChangeCount);
                _context.Counters.DirectBytes += WritePages.DirectBytes;
                sequence = SubmitOrMakeRoom(entry);
            }
        }
        catch
        {
            if (entry != null)
                journal.Return(entry);
            if (PlantedFault.KeepFailedVersions)
                WritePages.End();
            RollbackClaimed();
            throw;
        }

        if (!hasChanges)
            return EndUnchanged(completion);
        SchedulePoint.Reach(SchedulePlace.Queued);

        // The record is under way: from here on, nothing is undone and nothing asks for memory.
        NoteSuperseded();
        _writer.Submitted = WritePages.State;
        _writer.SubmittedSequence = sequence;
        End(committed: true);
        return sequence;
    }

    // The transaction may have read changes that are submitted but not yet durable. To answer "it is there already" is to promise that it stays.
    private long EndUnchanged(CommitCompletion? completion)
    {
        var sequence = PlantedFault.AcknowledgeEmptyAtOnce ? 0 : _writer.SubmittedSequence;
        End(committed: false);
        if (completion != null)
            _context.Journal!.CompleteWhenDurable(sequence, completion);
        return sequence;
    }

    // The record stays valid across a flush: the base of its differences is then in the data file, unchanged.
    private long SubmitOrMakeRoom(JournalEntry entry)
    {
        try
        {
            return _context.Journal!.Submit(entry);
        }
        catch (StorageFullException)
        {
            if (_context.BackPressure is not { } backPressure)
                throw;

            // A flush frees journal files, which is usually enough.
            if (backPressure.TryFlush() && TrySubmitAgain(entry, out var sequence))
                return sequence;
            if (!backPressure.TryPunch())
                throw;
        }

        return SubmitAgain(entry);
    }

    private bool TrySubmitAgain(JournalEntry entry, out long sequence)
    {
        sequence = 0;
        try
        {
            sequence = SubmitAgain(entry);
            return true;
        }
        catch (StorageFullException)
        {
            return false;
        }
    }

    private long SubmitAgain(JournalEntry entry)
    {
        var journal = _context.Journal!;
        journal.ReservedBytes = FlushListReserve();
        journal.ReservedImageBytes = FlushImagesReserve();
        return journal.Submit(entry);
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
        Puts.Undo(toSavepoint: false);
        WritePages.Rollback();
        _context.Counters.RolledBackTransactions++;
        End(committed: false);
    }

    private void End(bool committed)
    {
        if (committed)
            WritePages.End();
        else
            WritePages.Rollback();
        Buffers.Reset();
        _savepoints.Clear();
        if (_savepoints.Capacity > MaxKeptEntries)
            _savepoints.Capacity = 0;
        _log.Clear();
        _openedAt = null;
        EndOperation();
        EndGeneration();
        _writer.Park(this);
        try
        {
            _writer.Release();
        }
        finally
        {
            // Last, because this may release everything that this class uses.
            _context.Users.RemoveWriter();
        }
    }

    private void SaveTrees()
    {
        Buffers.Apply();
        for (var i = 0; i < TreeCount; i++)
        {
            var tree = TreeAt(i);
            if (!tree.IsDropped && tree.State.Changed)
                Trees.Catalog.Save(WritePages, Catalog, tree.Name, tree.State);
        }
    }

    // Room for the flush list of all pages that have a version now, and for a small transaction, so that a full disk can be emptied.
    private long FlushListReserve() =>
        JournalFormat.AlignUp(RecordHeader.Size + _context.Versions.MaxPagesToFlush * FlushListEntry.Size) + SlackBytes;

    private long FlushImagesReserve() => _context.Options.TornPageProtection == TornPageProtection.FullPageImages
        ? FlushImageRecords.MaxBytes(_context.Versions.PagesNeedingBase, _context.PageSize)
        : 0;

    // Called before the record that names the values is submitted.
    private void MakeValuesDurable()
    {
        if (!HasLiveDirectExtents())
        {
            // Values that were put and deleted again must not be written once their pages serve another purpose.
            WritePages.Stage?.Discard();
            return;
        }

        LargeValues.Finish();
        if (!PlantedFault.SubmitBeforeValueSync)
            _context.DataFile.Sync();
    }

    private bool HasLiveDirectExtents()
    {
        foreach (var run in WritePages.DirectExtents)
        {
            if (!run.IsFreed)
                return true;
        }

        return false;
    }

    private unsafe void NoteSuperseded()
    {
        foreach (var change in WritePages.FinalChanges())
        {
            var node = (Paging.VersionNode*)change.Node;
            if (node->Older != 0)
                _writer.VersionReclaimer.AddSuperseded(node->Page, node->TransactionId);
        }
    }

    private OpenTree Note(OpenTree tree)
    {
        if (Operation != 0 && tree.Operation != Operation)
        {
            tree.Operation = Operation;
            _treesOfOperation.Add(tree);
        }

        return tree;
    }

    private void Restore(in SavedTree saved)
    {
        saved.RestoreState();

        // A tree that was opened after the savepoint has been closed.
        var tree = saved.Tree;
        if (tree.Index >= TreeCount)
            return;
        SetDropped(tree, saved.IsDropped);
        if (tree.NameBytes != saved.Name)
            SetName(tree, saved.Name);
    }

    private void Release(int index)
    {
        // If the transaction can only be rolled back, the waiting puts stay until then: applying them would fail again, perhaps in a Dispose.
        if (_broken == null)
            Buffers.Apply();
        WritePages.Release(index);
        if (index == 0)
            _log.Release(0, 0);
        else
            _log.Release(_savepoints[index - 1].FirstSavedTree, _savepoints[index - 1].Stamp);
        _savepoints.RemoveRange(index, _savepoints.Count - index);
    }

    private void ThrowIfNestedOpen(int from, string consequence)
    {
        if (!PlantedFault.KeepUncommittedNested && FindNested(from) >= 0)
        {
            throw new InvalidOperationException(
                $"{consequence}: a nested transaction inside is open, neither committed nor disposed. Nothing has changed: end it, and try again.");
        }
    }

    private int FindNested(int from) => _savepoints.FindIndex(from, static frame => frame.IsNested);

    private int FindSavepoint(long id)
    {
        var index = IndexOfSavepoint(id);
        if (index < 0)
            throw new InvalidOperationException("The savepoint has ended: it was released, or an outer one was rolled back or released.");
        return index;
    }

    // Ids increase from the outermost savepoint to the innermost.
    private int IndexOfSavepoint(long id)
    {
        var low = 0;
        var high = _savepoints.Count - 1;
        while (low <= high)
        {
            var middle = (low + high) / 2;
            if (_savepoints[middle].Id == id)
                return middle;
            if (_savepoints[middle].Id < id)
                low = middle + 1;
            else
                high = middle - 1;
        }

        return -1;
    }

    private readonly record struct SavepointFrame(long Id, bool IsNested, int Stamp, int FirstSavedTree, int Trees, TreeHeader Catalog);
}
