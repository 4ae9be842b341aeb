using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Recording;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <summary>Changes an open tree of a write transaction: defers small puts, and passes large values to the data file.</summary>
/// <remarks>A change that fails midway breaks the transaction: see <see cref="WriteContext.Break"/>.</remarks>
internal static class TreeAccess
{
    /// <summary>Sets the value of a key, immediately or together with other puts.</summary>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    /// <exception cref="StorageFullException">There is not enough space; the transaction can only be rolled back.</exception>
    public static void Put(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        Begin(tree, key);
        if (tree.StateAsIs.IsRecorded)
            PutRecorded(tree, key, value, canWait: true);
        else if (!tree.TryDefer(key, value))
            Store(tree, key, value);
    }

    /// <summary>Sets the value of a key immediately. The transaction can accept the change: see <see cref="Begin"/>.</summary>
    /// <inheritdoc cref="Put"/>
    public static void PutNow(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (tree.StateAsIs.IsRecorded)
            PutRecorded(tree, key, value, canWait: false);
        else
            Store(tree, key, value);
    }

    private static void PutRecorded(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, bool canWait)
    {
        var write = tree.Owner.Write!;
        write.Recorder.Prepare(tree, RecordedOperation.Put, key, value);
        if (!canWait || !tree.TryDefer(key, value))
            Store(tree, key, value);
        AppendRecord(write);
    }

    /// <summary>Appends the prepared record of a change that has been made.</summary>
    /// <exception cref="StorageFullException">There is not enough space; the transaction can only be rolled back.</exception>
    public static void AppendRecord(WriteContext write)
    {
        try
        {
            write.Recorder.Append();
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    private static void Store(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var write = tree.Owner.Write!;
        try
        {
            if (write.Route.IsDirect(value.Length))
                write.LargeValues.Put(tree.SettledState(), key, value);
            else
                TreeWriter.Put(write.Pages, tree.SettledState(), key, value);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Makes a staged value the value of a key.</summary>
    /// <inheritdoc cref="StagedContent.Take"/>
    public static void PutStaged(OpenTree tree, ReadOnlySpan<byte> key, StagedContent content) =>
        PutStaged(tree, key, content, tree.StateAsIs.IsRecorded);

    /// <summary>Replaces the value of a key by a staged copy of it at another place: no change for the feed of a recorded tree.</summary>
    /// <inheritdoc cref="StagedContent.Take"/>
    public static void MoveStaged(OpenTree tree, ReadOnlySpan<byte> key, StagedContent content)
    {
        Debug.Assert(content.Reservation != null, "Only values with extents of their own are moved.");
        PutStaged(tree, key, content, isRecorded: false);
    }

    private static void PutStaged(OpenTree tree, ReadOnlySpan<byte> key, StagedContent content, bool isRecorded)
    {
        var write = Begin(tree, key);
        write.OperationSavepoint.Ensure();

        // First of all: if it fails, nothing has changed.
        if (isRecorded)
            write.Recorder.Prepare(tree, RecordedOperation.Put, key, leavesOut: true);
        write.Pages.Take(content);
        if (content.Reservation == null)
        {
            Put(tree, key, content.Bytes);
            return;
        }

        try
        {
            write.LargeValues.PutStaged(tree.SettledState(), key, content);
            if (isRecorded)
                write.Recorder.Append();
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Adds an entry; false, with nothing changed, when the tree already contains the key.</summary>
    /// <inheritdoc cref="Put"/>
    public static bool Insert(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var write = Begin(tree, key);
        if (tree.StateAsIs.IsRecorded)
            return InsertRecorded(tree, key, value);
        return InsertUnrecorded(write, tree, key, value);
    }

    private static bool InsertRecorded(OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var write = tree.Owner.Write!;
        write.Recorder.Prepare(tree, RecordedOperation.Put, key, value);
        if (!InsertUnrecorded(write, tree, key, value))
            return false;
        AppendRecord(write);
        return true;
    }

    private static bool InsertUnrecorded(WriteContext write, OpenTree tree, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        try
        {
            if (!write.Route.IsDirect(value.Length))
                return TreeWriter.Insert(write.Pages, tree.SettledState(), key, value);
            if (TreeReader.Contains(tree.SettledState(), write.Pages, key))
                return false;
            write.LargeValues.Put(tree.SettledState(), key, value);
            return true;
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Sets the length of a key's value, and returns the bytes for the caller to write in place before the next write.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or the value would be a large one.</exception>
    /// <inheritdoc cref="Put"/>
    public static Span<byte> Reserve(OpenTree tree, ReadOnlySpan<byte> key, int length)
    {
        var write = Begin(tree, key);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(length, write.Route.ThresholdBytes);
        if (tree.StateAsIs.IsRecorded)
            RecordReserved(write, tree, key);
        try
        {
            return TreeWriter.Reserve(write.Pages, tree.SettledState(), key, length);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    // Before the value is placed: the caller fills it until the next write of the transaction.
    private static void RecordReserved(WriteContext write, OpenTree tree, ReadOnlySpan<byte> key)
    {
        write.Recorder.RequireNoValues(tree);
        write.Recorder.Prepare(tree, RecordedOperation.Put, key);
        AppendRecord(write);
    }

    /// <summary>Removes an entry; false when the tree does not contain the key.</summary>
    public static bool Delete(OpenTree tree, ReadOnlySpan<byte> key)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        var isRecorded = tree.StateAsIs.IsRecorded;
        if (isRecorded)
            write.Recorder.Prepare(tree, RecordedOperation.Delete, key);
        try
        {
            var isDeleted = TreeWriter.Delete(write.Pages, tree.SettledState(), key);
            if (isRecorded && isDeleted)
                write.Recorder.Append();
            return isDeleted;
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes the entry that a cursor is on; false when it had already been deleted.</summary>
    /// <exception cref="InvalidOperationException">The cursor has no position.</exception>
    public static bool DeleteCurrent(TransactionTree tree, TreeCursor cursor)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        var isRecorded = tree.StateAsIs.IsRecorded && cursor.IsOnEntry;
        if (isRecorded)
            write.Recorder.Prepare(tree, RecordedOperation.Delete, cursor.Key);
        try
        {
            var isDeleted = TreeWriter.DeleteCurrent(write.Pages, cursor);
            if (isRecorded && isDeleted)
                write.Recorder.Append();
            return isDeleted;
        }
        catch (Exception e) when (e is not InvalidOperationException && write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes the entries between two bounds, and returns their number.</summary>
    public static long DeleteRange(OpenTree tree, KeyBound start, KeyBound end)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        var isRecorded = tree.StateAsIs.IsRecorded;
        if (isRecorded)
            write.Recorder.PrepareRange(tree, start, end);
        try
        {
            var deleted = RangeRemoval.Delete(write.Pages, tree.SettledState(), start, end);
            if (isRecorded && deleted > 0)
                write.Recorder.Append();
            return deleted;
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Removes all entries. Waiting puts are not applied first.</summary>
    public static void Clear(OpenTree tree)
    {
        var write = tree.Owner.Write!;
        write.BeginChange();
        var isRecorded = tree.StateAsIs.IsRecorded && (tree.HasWaitingPuts || tree.StateAsIs.EntryCount > 0);
        if (isRecorded)
            write.Recorder.PrepareRange(tree, default, KeyBound.End);
        tree.DiscardPuts();
        try
        {
            RangeRemoval.DeleteAll(write.Pages, tree.StateAsIs);
            if (isRecorded)
                write.Recorder.Append();
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Checks that the transaction can accept a change of this key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static WriteContext Begin(OpenTree tree, ReadOnlySpan<byte> key)
    {
        var write = tree.Owner.Write!;
        write.ThrowIfBroken();
        TreeLimits.CheckKey(write.Pages.PageSize, key);
        return write;
    }
}
