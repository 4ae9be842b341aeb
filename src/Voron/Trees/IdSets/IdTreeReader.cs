using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets;

/// <summary>Finds the sets of a tree of id sets.</summary>
internal static unsafe class IdTreeReader
{
    /// <summary>Returns the number of ids under a key; 0 if the tree does not contain it.</summary>
    public static long CountOf(TreeState state, PageReader reader, ReadOnlySpan<byte> key)
    {
        var behind = Find(state, reader, key, out _);
        return behind == null ? 0 : InlineIds.Count(behind);
    }

    /// <summary>Returns the number of ids under the cursor's key.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not on an entry.</exception>
    /// <exception cref="CorruptionException">The key has a value instead of a set.</exception>
    public static long CountOf(TreeCursor cursor) => InlineIds.Count(Behind(cursor.Record, out _));

    /// <summary>Returns whether the set of a key contains an id, and the payload of that id.</summary>
    [SkipLocalsInit]
    public static bool TryFind(TreeState state, PageReader reader, ReadOnlySpan<byte> key, long id, out byte payload)
    {
        payload = 0;
        var behind = Find(state, reader, key, out var length);
        if (behind == null || id < 0)
            return false;
        var ids = stackalloc long[IdBlock.MaxIds];
        var payloads = stackalloc byte[IdBlock.MaxIds];
        if (*(ExtendedForm*)behind == ExtendedForm.IdSet)
            return IdSetReader.TryFind(reader, *(IdSetReference*)behind, id, ids, payloads, out payload);
        var at = new ReadOnlySpan<long>(ids, InlineIds.Unpack(reader, behind, length, ids, payloads)).BinarySearch(id);
        payload = at < 0 ? (byte)0 : payloads[at];
        return at >= 0;
    }

    /// <summary>Opens the set of a key; returns false when the tree does not contain the key.</summary>
    public static bool TryOpen(TreeState state, PageReader reader, ReadOnlySpan<byte> key, IdSetCursor cursor)
    {
        var behind = Find(state, reader, key, out var length);
        if (behind == null)
            return false;
        cursor.Open(reader, behind, length);
        return true;
    }

    /// <summary>Returns the bytes after a key in its record, or null when the tree does not contain the key.</summary>
    /// <exception cref="CorruptionException">The key has a value instead of a set.</exception>
    public static byte* Find(TreeState state, PageReader reader, ReadOnlySpan<byte> key, out int length)
    {
        var record = TreeReader.Find(state, reader, key);
        length = 0;
        return record == null ? null : Behind(record, out length);
    }

    /// <summary>
    /// Returns whether the set of the cursor's entry has a page numbered <paramref name="first"/> or higher. False if the entry has no set
    /// with pages of its own.
    /// </summary>
    /// <inheritdoc cref="IdSetReader.HasPagesFrom(PageReader, in IdSetReference, long, out long)"/>
    public static bool HasPagesFrom(PageReader reader, TreeCursor cursor, long first, out long passed)
    {
        passed = 0;
        var record = cursor.Record;
        return IsSetWithPages(record) && IdSetReader.HasPagesFrom(reader, *(IdSetReference*)LeafPage.InlineBytes(record), first, out passed);
    }

    /// <summary>Returns whether a record refers to a set with pages of its own.</summary>
    public static bool IsSetWithPages(byte* record) =>
        LeafPage.Kind(record) == ValueKind.Extended && *(ExtendedForm*)LeafPage.InlineBytes(record) == ExtendedForm.IdSet;

    /// <summary>Returns the bytes after the key of a record.</summary>
    /// <inheritdoc cref="Find"/>
    public static byte* Behind(byte* record, out int length)
    {
        var behind = LeafPage.InlineBytes(record);
        if (LeafPage.Kind(record) != ValueKind.Extended || *(ExtendedForm*)behind > ExtendedForm.IdSet)
            TreeErrors.ThrowNoSet(record);
        length = LeafPage.InlineLength(record);
        return behind;
    }
}
