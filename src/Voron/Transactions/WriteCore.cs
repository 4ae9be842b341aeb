using System.Diagnostics;
using Voron.Format;
using Voron.Journal;
using Voron.Primitives;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>The write transaction behind its handles: trees, savepoints, commit and rollback. One object an environment.</summary>
/// <remarks>
/// <code>
///   free ──Begin──▶ open ──Submit──▶ free (the record is on its way)
///                    │ ▲
///      an operation  │ │ rollback to a savepoint made before
///      fails inside  ▼ │
///                  broken ──Rollback──▶ free
/// </code>
/// Everything here runs while the writer gate is held.
/// </remarks>
internal sealed class WriteCore : TransactionCore
{
    /// <summary>Bytes of journal kept free beyond the next flush list: for padding and for records that vouch.</summary>
    private const long SlackBytes = 16 << 10;

    private readonly EngineContext _context;
    private readonly WriterGate _gate;
    private readonly WriterHome _home;
    private readonly TransactionPacker _packer;
    private readonly List<SavepointFrame> _savepoints = [];
    private readonly List<SavedTree> _savedTrees = [];
    private Exception? _broken;
    private StackTrace? _openedAt;

    // 1 while a transaction is open: whoever changes it to 0 ends the transaction.
    private int _open;
    private long _nextSavepointId = 1;

    public WriteCore(EngineContext context, WriterGate gate, WriterHome home)
    {
        _context = context;
        _gate = gate;
        _home = home;
        Session = home.Session;
        LargeValues = new LargeValueWriter(context, Session);
        _packer = new TransactionPacker(context);
    }

    ~WriteCore()
    {
        if (Volatile.Read(ref _open) != 0)
            _home.Abandoned(this);
    }

    public override PageReader Pages => Session;

    public JournalWriter Journal => _context.Journal!;

    public WriteSession Session { get; }

    public LargeValueWriter LargeValues { get; }

    /// <summary>Rises with each rollback to a savepoint.</summary>
    public long RollbackCount { get; private set; }

    /// <summary>Puts of the open transaction that are still reading their streams.</summary>
    public PendingPuts Puts { get; } = new();

    /// <summary>Starts a transaction. The gate is held. Called by <see cref="WriterHome"/> only.</summary>
    public void Begin(StackTrace? openedAt)
    {
        _home.Keeper.Reclaim();
        if (_context.DataFile.HasRetiredMaps)
            _context.DataFile.ReleaseMaps(_home.Keeper.OldestSequence);
        Session.Begin(_home.Submitted);
        BeginGeneration(_home.Submitted.Catalog);
        _broken = null;
        _openedAt = openedAt;
        Volatile.Write(ref _open, 1);
    }

    /// <summary>True for one caller: the transaction is its to end.</summary>
    public bool TryClaim() => Interlocked.Exchange(ref _open, 0) != 0;

    /// <summary>Rolls a transaction back whose handles are all gone; on a thread of the pool.</summary>
    public void EndAbandoned()
    {
        if (!TryClaim())
            return;
        _home.EndAbandoned(this, _openedAt);
        GC.ReRegisterForFinalize(this);
    }

    public OpenTree? OpenTree(ReadOnlySpan<byte> name)
    {
        var open = FindOpen(name);
        if (open != null)
            return open;
        return Trees.Catalog.TryFind(Catalog, Session, name, out var header) ? Add(name, header) : null;
    }

    /// <summary>Opens the tree, making it when there is none.</summary>
    public OpenTree CreateTree(ReadOnlySpan<byte> name)
    {
        var tree = OpenTree(name);
        if (tree != null)
            return tree;

        ThrowIfBroken();
        try
        {
            var header = new TreeHeader { TreeId = Session.State.NextTreeId };
            Trees.Catalog.Create(Session, Catalog, name, header);
            Session.State.NextTreeId++;
            return Add(name, header);
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
            Trees.Catalog.Delete(Session, Catalog, name, tree.State);
            tree.IsDropped = true;
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
        if (!name.SequenceEqual(newName) && TreeReader.Contains(Catalog, Session, newName))
            throw new ArgumentException($"There is a tree '{Trees.Catalog.Decode(newName)}' already.", nameof(newName));

        ThrowIfBroken();
        try
        {
            Trees.Catalog.Rename(Session, Catalog, name, newName);
            tree.SetName(newName);
            tree.State.Changed = true;
            return true;
        }
        catch (Exception e) when (Break(e))
        {
            throw;
        }
    }

    /// <summary>Notes that an operation failed inside: trees may be half changed. Always false, for use in a filter.</summary>
    public bool Break(Exception cause)
    {
        if (!PlantedFault.CommitAfterNoMemory || cause is not OutOfMemoryException)
            _broken ??= cause;
        return false;
    }

    /// <summary>True when the open transaction, or a part of it, can only be rolled back.</summary>
    public bool IsBroken => _broken != null;

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
    /// <returns>Its number, which no other savepoint of the environment has.</returns>
    public long CreateSavepoint()
    {
        ThrowIfBroken();
        Puts.ThrowIfAny("A savepoint");
        ApplyPuts();
        var id = _nextSavepointId++;
        _savepoints.Add(new SavepointFrame(id, _savedTrees.Count, TreeCount, Catalog.ToHeader(), Session.Mark()));
        for (var i = 0; i < TreeCount; i++)
        {
            var tree = TreeAt(i);
            _savedTrees.Add(new SavedTree(tree.State.ToHeader(), tree.State.Changed, tree.IsDropped, tree.NameBytes));
        }

        return id;
    }

    /// <summary>Takes back what changed since the savepoint, which stays; those inside it end.</summary>
    public void RollbackToSavepoint(long id)
    {
        var index = FindSavepoint(id);
        var frame = _savepoints[index];
        Puts.Undo(toSavepoint: true);
        RollbackCount++;
        Catalog.PrepareForChange();
        for (var i = 0; i < TreeCount; i++)
        {
            TreeAt(i).DiscardPuts();
            TreeAt(i).State.PrepareForChange();
        }

        Session.RollbackTo(PlantedFault.RollBackNeighbours ? frame.Mark with { Changes = 0 } : frame.Mark);
        Catalog.Load(frame.Catalog);
        for (var i = 0; i < frame.Trees; i++)
        {
            var saved = _savedTrees[frame.FirstSavedTree + i];
            var tree = TreeAt(i);
            tree.State.Load(saved.Header);
            tree.State.Changed = saved.Changed;
            tree.IsDropped = saved.IsDropped;
            tree.SetName(saved.Name);
        }

        CloseTrees(frame.Trees);
        _savedTrees.RemoveRange(frame.FirstSavedTree + frame.Trees, _savedTrees.Count - frame.FirstSavedTree - frame.Trees);
        _savepoints.RemoveRange(index + 1, _savepoints.Count - index - 1);
        _broken = null;
    }

    /// <summary>Ends the savepoint, and those inside it, keeping what changed.</summary>
    /// <exception cref="InvalidOperationException">A put is pending: what it will write is to be kept too.</exception>
    public void ReleaseSavepoint(long id)
    {
        Puts.ThrowIfAny("The release of a savepoint, or the commit of a nested transaction,");
        ForgetSavepoint(id);
    }

    /// <summary>As <see cref="ReleaseSavepoint"/>; a pending put goes on, as a part of what the savepoint was in.</summary>
    public void ForgetSavepoint(long id)
    {
        var index = FindSavepoint(id);
        var frame = _savepoints[index];
        ApplyPuts();
        Session.Release(frame.Mark);
        _savedTrees.RemoveRange(frame.FirstSavedTree, _savedTrees.Count - frame.FirstSavedTree);
        _savepoints.RemoveRange(index, _savepoints.Count - index);
    }

    public bool HasSavepoint(long id) => _savepoints.Exists(frame => frame.Id == id);

    /// <summary>
    /// Packs the transaction and hands it to the journal; the transaction has ended then, and the gate is released.
    /// </summary>
    /// <returns>The sequence to wait for; 0 when nothing had changed.</returns>
    /// <exception cref="InvalidOperationException">A put is pending; the transaction stays open.</exception>
    public long Submit(CommitCompletion? completion)
    {
        Puts.ThrowIfAny("The commit");
        if (!TryClaim())
            ThrowEnded();
        JournalEntry? entry = null;
        var journal = _context.Journal!;
        long sequence;
        try
        {
            ThrowIfBroken();
            SaveTrees();
            if (!Session.HasChanges)
            {
                End(committed: false);
                completion?.SetResult();
                return 0;
            }

            Session.State.TransactionId = Session.Id;
            Session.State.Catalog = Catalog.ToHeader();
            journal.ReservedBytes = FlushListReserve();
            journal.ReservedImageBytes = FlushImagesReserve();
            entry = _packer.Pack(Session);
            MakeValuesDurable();
            entry.Completion = completion;
            _home.Keeper.EnsureRoom(Session.ChangeCount);
            sequence = journal.Submit(entry);
        }
        catch
        {
            if (entry != null)
                journal.Return(entry);
            if (PlantedFault.KeepFailedVersions)
                Session.End();
            RollbackClaimed();
            throw;
        }

        SchedulePoint.Reach(SchedulePlace.Queued);

        // The record is on its way: nothing is taken back any more, and nothing here asks for memory.
        NoteSuperseded();
        _home.Submitted = Session.State;
        End(committed: true);
        return sequence;
    }

    /// <summary>Takes everything back and releases the gate.</summary>
    public void Rollback()
    {
        if (TryClaim())
            RollbackClaimed();
    }

    /// <summary>As <see cref="Rollback"/>, for whoever has claimed the transaction.</summary>
    public void RollbackClaimed()
    {
        Puts.Undo(toSavepoint: false);
        Session.Rollback();
        _context.Counters.RolledBackTransactions++;
        End(committed: false);
    }

    private void End(bool committed)
    {
        if (committed)
            Session.End();
        else
            Session.Rollback();
        _savepoints.Clear();
        _savedTrees.Clear();
        _openedAt = null;
        EndGeneration();
        _home.Rest(this);
        _gate.Release();
    }

    private void ApplyPuts()
    {
        for (var i = 0; i < TreeCount; i++)
            _ = TreeAt(i).State;
    }

    private void SaveTrees()
    {
        for (var i = 0; i < TreeCount; i++)
        {
            var tree = TreeAt(i);
            if (tree.State.Changed && !tree.IsDropped)
                Trees.Catalog.Save(Session, Catalog, tree.Name, tree.State);
        }
    }

    // The list of a flush of everything that has a version now, and a small transaction: so that a full disk can be emptied.
    private long FlushListReserve() =>
        JournalFormat.AlignUp(RecordHeader.Size + _context.Versions.ChainCount * FlushListEntry.Size) + SlackBytes;

    private long FlushImagesReserve() => _context.Options.FlushRecords == FlushRecordForm.WholeImages
        ? FlushImageRecords.MaxBytes(_context.Versions.BasedCount, _context.PageSize)
        : 0;

    // Before the record that names them is submitted.
    private void MakeValuesDurable()
    {
        if (!HasLiveDirectRuns())
        {
            // What was put and deleted again must not be written when the pages serve somebody else.
            Session.Stage?.Discard();
            return;
        }

        LargeValues.Finish();
        if (!PlantedFault.SubmitBeforeValueSync)
            _context.DataFile.Sync();
    }

    private bool HasLiveDirectRuns()
    {
        foreach (var run in Session.DirectRuns)
        {
            if (!run.IsFreed)
                return true;
        }

        return false;
    }

    private unsafe void NoteSuperseded()
    {
        foreach (var change in Session.FinalChanges())
        {
            var node = (Paging.VersionNode*)change;
            if (node->Older != 0)
                _home.Keeper.Superseded(node->Page, node->TransactionId);
        }
    }

    private int FindSavepoint(long id)
    {
        for (var i = _savepoints.Count - 1; i >= 0; i--)
        {
            if (_savepoints[i].Id == id)
                return i;
        }

        throw new InvalidOperationException("The savepoint has ended: it was released, or an outer one was rolled back or released.");
    }

    private readonly record struct SavepointFrame(long Id, int FirstSavedTree, int Trees, TreeHeader Catalog, SessionMark Mark);

    private readonly record struct SavedTree(TreeHeader Header, bool Changed, bool IsDropped, byte[] Name);
}
