using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Throws the exceptions for the hot paths of trees.</summary>
internal static unsafe class TreeErrors
{
    [DoesNotReturn]
    public static void ThrowKind(PageReader reader, PageNumber page, byte* bytes, PageKind expected) =>
        throw new CorruptionException(
            $"Page {page} of '{reader.FilePath}' should be of kind {expected} according to a link in a tree, but is of kind {((PageHeader*)bytes)->Kind} " +
            $"and names itself page {((PageHeader*)bytes)->PageNumber}.");

    /// <summary>
    /// Checks the mark of a page before it is freed or changed in a transaction later than the one that dropped its tree. Other trees reuse freed
    /// pages, and a page of another tree must not be freed again.
    /// </summary>
    /// <exception cref="CorruptionException">The page belongs to another tree.</exception>
    public static void CheckMark(PageReader reader, byte* bytes, PageNumber page, uint treeId)
    {
        var mark = ((PageHeader*)bytes)->TreeMark;
        if (mark != 0 && mark != treeId + 1)
        {
            throw new CorruptionException(
                $"Page {page} of '{reader.FilePath}' belongs to the tree with id {mark - 1}, but is linked from the tree with id {treeId}.");
        }
    }

    [DoesNotReturn]
    public static void ThrowArray(PageReader reader, PageNumber page, byte* bytes, bool isBranch, int valueSize) =>
        throw new CorruptionException(
            $"Page {page} of '{reader.FilePath}' should be {(isBranch ? "a branch" : "a leaf")} of kind {PageKind.Array} with values of {valueSize} bytes " +
            $"according to a link in a tree, but is of kind {((PageHeader*)bytes)->Kind} with flags {((PageHeader*)bytes)->Flags:x2} and values of " +
            $"{((PageHeader*)bytes)->ValueSize} bytes, and names itself page {((PageHeader*)bytes)->PageNumber}.");

    [DoesNotReturn]
    public static void ThrowExtent(PageReader reader, PageNumber page, byte* bytes, long expectedLength) =>
        throw new CorruptionException(
            $"Page {page} of '{reader.FilePath}' should start an overflow extent with a value of {expectedLength} bytes, but is of kind " +
            $"{((PageHeader*)bytes)->Kind} with {((PageHeader*)bytes)->ExtentBytes} bytes.");

    [DoesNotReturn]
    public static void ThrowDepth(PageReader reader, int depth) =>
        throw new CorruptionException($"A tree in '{reader.FilePath}' claims {depth} levels, but can have at most {TreeLimits.MaxDepth}.");

    [DoesNotReturn]
    public static void ThrowLeaves(PageReader reader, long leaves) =>
        throw new CorruptionException(
            $"A tree in '{reader.FilePath}' has more leaves than the {leaves} that it claims: its branches form a cycle or share pages.");

    [DoesNotReturn]
    public static void ThrowEntries(PageReader reader, long entries) =>
        throw new CorruptionException($"A tree in '{reader.FilePath}' has another number of entries than the {entries} that it claims.");

    [DoesNotReturn]
    public static void ThrowShared(PageReader reader, PageNumber page) =>
        throw new CorruptionException($"Page {page} of '{reader.FilePath}' is linked to a tree twice.");

    [DoesNotReturn]
    public static void ThrowValueKind(PageReader reader, ValueKind kind, long length) =>
        throw new CorruptionException($"A leaf in '{reader.FilePath}' has a value of {length} bytes stored as {kind}, which is impossible.");

    [DoesNotReturn]
    public static long ThrowExtended(byte* record) => throw new CorruptionException(
        $"Key {KeyText.Of(LeafPage.Key(record))} has a record of form {*LeafPage.InlineBytes(record)} instead of a value, which is impossible in a tree of values.");

    [DoesNotReturn]
    public static void ThrowMixed(TreeKind kind, byte* record)
    {
        if (kind != TreeKind.IdSets)
            ThrowExtended(record);
        ThrowNoSet(record);
    }

    [DoesNotReturn]
    public static void ThrowNoSet(byte* record) => throw new CorruptionException(
        $"Key {KeyText.Of(LeafPage.Key(record))} in a tree of id sets has {LeafPage.InlineLength(record)} bytes of kind {LeafPage.Kind(record)} instead of a set.");

    [DoesNotReturn]
    public static void ThrowNoEntry() => throw new InvalidOperationException("The cursor is not on an entry.");

    [DoesNotReturn]
    public static void ThrowLost() => throw new InvalidOperationException(
        "The cursor has lost its place: the seek before this call failed. Seek again before moving on.");

    [DoesNotReturn]
    public static void ThrowNegativeLength(int length) =>
        throw new ArgumentOutOfRangeException(nameof(length), length, "A value cannot have a negative length.");
}
