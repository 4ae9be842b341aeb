using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Trees.ValueSets.Records;

/// <summary>Throws the exceptions for damaged sets of values, and for values that no set can contain.</summary>
internal static unsafe class ValueSetErrors
{
    /// <summary>Checks the length of a value.</summary>
    /// <exception cref="ArgumentException">The value is empty, or too long.</exception>
    public static void CheckValue(int pageSize, ReadOnlySpan<byte> value)
    {
        if (value.Length == 0 || value.Length > ValueSetLayout.MaxValueLength(pageSize))
            ThrowValueLength(value, pageSize);
    }

    [DoesNotReturn]
    public static void ThrowRecord(PageReader reader, string fault) =>
        throw new CorruptionException($"A record of a tree of value sets in '{reader.FilePath}' is malformed: it has {fault}.");

    [DoesNotReturn]
    public static void ThrowKind(PageReader reader, byte* record) => ThrowRecord(
        reader, $"a value of kind {LeafPage.Kind(record)} with {LeafPage.InlineLength(record)} bytes in its leaf instead of a set");

    [DoesNotReturn]
    public static void ThrowPlace(PageReader reader, int index, int count, int offset, int recordBytes) => ThrowRecord(
        reader, $"value {index} of {count} at offset {offset}, which extends beyond its record of {recordBytes} bytes");

    [DoesNotReturn]
    public static void ThrowSum(PageReader reader, int count, int recordBytes) =>
        ThrowRecord(reader, $"{count} values whose total length in a record of {recordBytes} bytes contradicts its header");

    /// <summary>The values in the companion do not match the claims of the key's record.</summary>
    [DoesNotReturn]
    public static void ThrowCount(PageReader reader, in LargeSetReference set) => throw new CorruptionException(
        $"Large set {set.Number} in '{reader.FilePath}' does not match the record of its key, which claims {set.Count} values of {set.Bytes} bytes.");

    [DoesNotReturn]
    public static void ThrowAll(PageReader reader, long count, long all) => throw new CorruptionException(
        $"A set of values in '{reader.FilePath}' claims {count} values, but all sets of its tree have {all}.");

    [DoesNotReturn]
    public static void ThrowCompanion(PageReader reader, uint treeId) => throw new CorruptionException(
        $"The catalog of '{reader.FilePath}' lacks the tree for the large sets of the tree with id {treeId}. Run Verify, or restore a backup.");

    [DoesNotReturn]
    public static void ThrowNumber(PageReader reader) => throw new CorruptionException(
        $"The number of the next large set in '{reader.FilePath}' is missing, damaged, or not above those of all large sets.");

    [DoesNotReturn]
    public static void ThrowLost() => throw new InvalidOperationException(
        "The cursor has lost its place: the move before this call failed. Seek again before moving on.");

    [DoesNotReturn]
    public static void ThrowNoPair() => throw new InvalidOperationException("The cursor is not on a value.");

    [DoesNotReturn]
    private static void ThrowValueLength(ReadOnlySpan<byte> value, int pageSize) => throw new ArgumentException(
        $"A value of a set must have 1 to {ValueSetLayout.MaxValueLength(pageSize)} bytes at a page size of {pageSize}, but this one has {value.Length}.",
        nameof(value));
}
