using System.Diagnostics;
using Voron.Primitives;
using Voron.Recording;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <summary>Records the changes of trees in their feeds, in the transaction that makes them.</summary>
/// <remarks>
/// <code>
///   prepared: the record is in the buffer, while keys and values still are where the caller has them
///      │ the tree is changed
///      ▼
///   appended: the record is in the tree of the feed, behind all others
/// </code>
/// A feed tree is an ordinary tree: a rollback, including one to a savepoint or of a failed group commit operation, undoes the records along with
/// the changes. The ordinals of changes in a transaction only increase, with gaps where changes were undone.
/// <para>
/// A tree's feed is looked up once per epoch. An epoch begins with the transaction, with an operation of a group commit, which opens its trees
/// itself, with a rollback, and with a change of the feeds. Used by the holder of the writer.
/// </para>
/// </remarks>
/// <param name="clock">The clock of commits.</param>
/// <param name="pages">The pages of the open transaction.</param>
internal sealed class ChangeRecorder(SteadyClock clock, CopyOnWritePages pages)
{
    private const int MaxKeptBytes = 256 << 10;

    private byte[] _buffer = [];
    private int _length;
    private uint _ordinal;
    private long _epoch = 1;
    private ushort _timedFeed;
    private long _time;
    private RecordedSource? _prepared;

    /// <summary>Opens the trees of feeds. Set by the transaction.</summary>
    public ITreeFinder? Trees { get; set; }

    /// <summary>The number of bytes recorded by the transaction, including undone ones.</summary>
    public long RecordedBytes { get; private set; }

    /// <summary>Begins a transaction.</summary>
    public void Begin()
    {
        _epoch++;
        _ordinal = 0;
        _timedFeed = 0;
        _time = 0;
        RecordedBytes = 0;
        if (_buffer.Length > MaxKeptBytes)
            _buffer = [];
    }

    /// <summary>Begins another epoch: an operation must open the feed trees itself, or the feeds have changed.</summary>
    public void BeginEpoch() => _epoch++;

    /// <summary>Notes that changes were undone, possibly the one that contains the transaction's time. Feed trees may have been closed.</summary>
    public void NoteRolledBack()
    {
        _epoch++;
        _timedFeed = 0;
    }

    /// <summary>Prepares the record of a put or a removal, before the tree changes. Tables record their own changes.</summary>
    /// <param name="tree">The tree, whose changes are recorded.</param>
    /// <param name="operation">The change.</param>
    /// <param name="key">The key. It may be a span of the tree's pages.</param>
    /// <param name="value">The new value. It may be a span of the tree's pages.</param>
    /// <param name="leavesOut">True if the value is too large to be in memory.</param>
    /// <exception cref="CorruptionException">The feed of the tree is damaged or missing.</exception>
    public void Prepare(
        IRecordedTree tree, RecordedOperation operation, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value = default, bool leavesOut = false)
    {
        _prepared = null;
        var source = Find(tree);
        if (source.Record.IsTable)
            return;
        var hasNew = operation == RecordedOperation.Put && (source.Record.Parts & RecordedParts.New) != 0;
        Write(source, operation, key, default, value, (byte)(!hasNew ? 0 : leavesOut ? ChangeRecord.LeavesOutNew : ChangeRecord.HasNew));
        _prepared = source;
    }

    /// <summary>Prepares the record of the removal of all entries between two bounds.</summary>
    /// <inheritdoc cref="Prepare"/>
    public void PrepareRange(IRecordedTree tree, KeyBound start, KeyBound end)
    {
        _prepared = null;
        var source = Find(tree);
        if (source.Record.IsTable)
            return;

        // The string that follows a place is no longer than a key plus one byte, unless it is longer than any key.
        var first = new byte[start.IsStart || start.IsEnd ? 0 : start.Length];
        if (first.Length > 0)
            start.CopyTo(first);
        var last = new byte[end.IsEnd ? 0 : end.Length];
        if (last.Length > 0)
            end.CopyTo(last);
        Write(source, RecordedOperation.DeleteRange, first, default, last, end.IsEnd ? (byte)0 : ChangeRecord.HasNew);
        _prepared = source;
    }

    /// <summary>Appends the prepared record, after the tree has changed.</summary>
    /// <exception cref="StorageFullException">There is not enough space. The caller breaks the transaction.</exception>
    public void Append()
    {
        if (_prepared is not { } source)
            return;
        _prepared = null;
        Append(source.Feed!, _buffer.AsSpan(0, _length));
        _timedFeed = source.Record.Feed;
    }

    /// <summary>Records a row change that has been made.</summary>
    /// <param name="rows">The row tree.</param>
    /// <param name="operation">The change.</param>
    /// <param name="key">The primary key.</param>
    /// <param name="old">The row before the change; empty for an insert.</param>
    /// <param name="row">The row after the change; empty for a removal.</param>
    /// <inheritdoc cref="Append()"/>
    public void RecordRow(IRecordedTree rows, RecordedOperation operation, ReadOnlySpan<byte> key, ReadOnlySpan<byte> old, ReadOnlySpan<byte> row)
    {
        var source = Find(rows);
        var parts = source.Record.Parts;
        var flags = (parts & RecordedParts.New) != 0 && operation != RecordedOperation.Delete ? ChangeRecord.HasNew : (byte)0;
        if ((parts & RecordedParts.Old) != 0 && operation != RecordedOperation.Insert)
            flags |= ChangeRecord.HasOld;
        Write(source, operation, key, old, row, flags);
        _prepared = source;
        Append();
    }

    /// <summary>Returns whether a feed records a tree that is marked as recorded; false if the feed is damaged.</summary>
    public bool Knows(IRecordedTree tree)
    {
        var source = tree.Recorded ??= new RecordedSource();
        return source.Epoch == _epoch || TryFind(tree, source);
    }

    /// <summary>Records that a tree or a table was renamed or deleted. From then on it is a new source.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="newName">The new name in UTF-8; empty if the tree has been deleted.</param>
    /// <inheritdoc cref="Append()"/>
    public void RecordName(IRecordedTree tree, ReadOnlySpan<byte> newName)
    {
        var source = Find(tree);
        Write(
            source, newName.IsEmpty ? RecordedOperation.Drop : RecordedOperation.Rename, default, default, newName,
            newName.IsEmpty ? (byte)0 : ChangeRecord.HasNew);
        _prepared = source;
        Append();
        var sources = new SourceEditor(pages, Registry());
        var record = source.Record;
        sources.End(record.Feed, record.Source, pages.Id);
        if (newName.IsEmpty)
            sources.Forget(tree.StateAsIs.TreeId);
        else
            sources.Add(tree.StateAsIs.TreeId, record, newName);
        _epoch++;
    }

    /// <summary>Records that the recording of a tree or a table begins or ends here.</summary>
    /// <inheritdoc cref="Append()"/>
    public void RecordSource(IRecordedTree tree, bool begins)
    {
        var source = Find(tree);
        Write(source, begins ? RecordedOperation.AddSource : RecordedOperation.RemoveSource, default, default, default, 0);
        _prepared = source;
        Append();
    }

    /// <summary>Refuses a value whose bytes the caller writes later, if the feed would record it.</summary>
    /// <exception cref="InvalidOperationException">The tree is recorded with its values.</exception>
    public void RequireNoValues(IRecordedTree tree)
    {
        var record = Find(tree).Record;
        if (record.IsTable || (record.Parts & RecordedParts.New) == 0)
            return;
        throw new InvalidOperationException(
            $"No value can be reserved in the {Catalog.Describe(tree.Name)}: a feed records its changes with their values, and the bytes of a reserved value are " +
            "not known when the change is recorded. Use Put, or record the tree without values.");
    }

    private void Append(TreeState feed, ReadOnlySpan<byte> record)
    {
        if (_ordinal == uint.MaxValue)
            throw new TransactionTooLargeException(
                $"A transaction of '{pages.FilePath}' has recorded {uint.MaxValue} changes, which is the maximum. Divide it.");
        var key = ChangeRecord.WriteKey(PlantedFault.RecordUnderNextId ? pages.Id + 1 : pages.Id, ++_ordinal, stackalloc byte[ChangeRecord.KeyBytes]);
        TreeWriter.Put(pages, feed, key, record);
        RecordedBytes += key.Length + record.Length;
    }

    private void Write(
        RecordedSource source, RecordedOperation operation, ReadOnlySpan<byte> key, ReadOnlySpan<byte> old, ReadOnlySpan<byte> value, byte flags)
    {
        // The first change after the beginning, a rollback or a change of another feed contains the transaction's time.
        var hasTime = _timedFeed != source.Record.Feed;
        var most = source.Record.MaxValueBytes;
        if ((flags & ChangeRecord.HasNew) != 0 && value.Length > most && operation < RecordedOperation.Delete)
            flags = (byte)((flags & ~ChangeRecord.HasNew) | ChangeRecord.LeavesOutNew);
        if ((flags & ChangeRecord.HasOld) != 0 && old.Length > most)
            flags = (byte)((flags & ~ChangeRecord.HasOld) | ChangeRecord.LeavesOutOld);
        var record = new ChangeRecord
        {
            Operation = operation,
            Flags = (byte)(flags | (hasTime ? ChangeRecord.HasTime : 0)),
            Time = hasTime ? TimeOfTransaction() : 0,
            Source = source.Record.Source,
            Key = key,
            Old = (flags & ChangeRecord.HasOld) != 0 ? old : default,
            New = (flags & ChangeRecord.HasNew) != 0 ? value : default,
        };
        if (_buffer.Length < record.MaxBytes)
            _buffer = GC.AllocateUninitializedArray<byte>(Math.Max(record.MaxBytes, Math.Min(2 * _buffer.Length, MaxKeptBytes)));
        _length = record.Write(_buffer);
    }

    // Shared by all feeds and changes. Like the commit time, it never decreases.
    private long TimeOfTransaction()
    {
        if (_time == 0)
            _time = Math.Max(clock.Read(), pages.State.CommitTime);
        return _time;
    }

    private RecordedSource Find(IRecordedTree tree)
    {
        Debug.Assert(tree.StateAsIs.IsRecorded, "Only the changes of a recorded tree have a feed.");
        return Knows(tree) ? tree.Recorded! : throw Unknown(tree);
    }

    private bool TryFind(IRecordedTree tree, RecordedSource source)
    {
        var key = FeedKeys.Tree(tree.StateAsIs.TreeId, stackalloc byte[FeedKeys.TreeBytes]);
        if (Trees!.FindTree(SystemTree.Feeds) is not { } feeds || !TreeReader.TryGet(feeds, pages, key, out var bytes)
            || !TreeRecording.TryRead(bytes, out var record))
            return false;
        source.Feed = Trees!.FindTree(SystemTree.ChangesName(record.Feed, stackalloc byte[SystemTree.ChangesNameBytes]));
        source.Record = record;
        if (source.Feed == null)
            return false;
        source.Epoch = _epoch;
        return true;
    }

    private TreeState Registry() => Trees!.FindTree(SystemTree.Feeds) ?? throw new CorruptionException(
        $"The {SystemTree.Describe(SystemTree.Feeds)} is missing in '{pages.FilePath}', although it has recorded trees. Run Verify, or restore a backup.");

    private CorruptionException Unknown(IRecordedTree tree) => new(
        $"The {Catalog.Describe(tree.Name)} in '{pages.FilePath}' is marked as recorded, but no feed has it. Nothing was changed. Run Verify, or restore a backup.");
}

/// <summary>An open tree as the recorder of its changes sees it.</summary>
internal interface IRecordedTree
{
    /// <summary>The name in the catalog.</summary>
    ReadOnlySpan<byte> Name { get; }

    /// <summary>The tree without the waiting puts.</summary>
    TreeState StateAsIs { get; }

    /// <summary>How the changes of the tree are recorded; null until one is.</summary>
    RecordedSource? Recorded { get; set; }
}

/// <summary>Opens trees of a write transaction by the bytes of their names.</summary>
internal interface ITreeFinder
{
    /// <summary>Opens a tree, and applies its waiting puts; null if it does not exist.</summary>
    TreeState? FindTree(ReadOnlySpan<byte> name);
}
