namespace Voron.Tests.Lifetimes;

/// <content>The handles of trees of value sets.</content>
internal static partial class HandleTable
{
    private static readonly byte[] NewSetKey = [78];

    public static IReadOnlyList<HandleRow<ValueSetTree>> ValueSetTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("ValueCount", handle => _ = handle.ValueCount),
        new("MaxValueLength", handle => _ = handle.MaxValueLength),
        new("Name", handle => _ = handle.Name),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("CountOf(ReadOnlySpan<Byte>)", handle => handle.CountOf(HandleSet.IdKey)),
        new("Contains(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.Contains(HandleSet.IdKey, HandleSet.Key)),
        new("OpenValues(ReadOnlySpan<Byte>)", handle => handle.OpenValues(HandleSet.IdKey).Dispose()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteValueSetTree>> WriteValueSetTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("ValueCount", handle => _ = handle.ValueCount),
        new("MaxValueLength", handle => _ = handle.MaxValueLength),
        new("Name", handle => _ = handle.Name),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("CountOf(ReadOnlySpan<Byte>)", handle => handle.CountOf(HandleSet.IdKey)),
        new("Contains(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.Contains(HandleSet.IdKey, HandleSet.Key)),
        new("OpenValues(ReadOnlySpan<Byte>)", handle => handle.OpenValues(HandleSet.IdKey).Dispose()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("AsReadOnly()", handle => handle.AsReadOnly()) { WorksAlways = true },
        new("ToValueSetTree()", handle => handle.ToValueSetTree()) { WorksAlways = true },
        new("Add(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.Add(NewSetKey, [1])),
        new("Remove(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.Remove(NewSetKey, [1])),
        new("RemoveAll(ReadOnlySpan<Byte>)", handle => handle.RemoveAll(NewSetKey)),
        new("DeleteRange(KeyRange)", handle => handle.DeleteRange(KeyRange.From(NewSetKey))),
        new("Clear()", handle => ClearUnlessOpen(handle)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<ValueCursor>> ValueCursor { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("IsOnValue", handle => _ = handle.IsOnValue),
        new("Value", handle => _ = handle.Value.Length),
        new("Seek(ReadOnlySpan<Byte>)", handle => handle.Seek(HandleSet.Key)),
        new("SeekExact(ReadOnlySpan<Byte>)", handle => handle.SeekExact(HandleSet.Key)),
        new("SeekForPrevious(ReadOnlySpan<Byte>)", handle => handle.SeekForPrevious(HandleSet.Key)),
        new("SeekFirst()", handle => handle.SeekFirst()),
        new("SeekLast()", handle => handle.SeekLast()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("MovePrevious()", handle => handle.MovePrevious()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<ValueSetCursor>> ValueSetCursor { get; } =
    [
        new("IsOnValue", handle => _ = handle.IsOnValue),
        new("Key", handle => _ = handle.Key.Length),
        new("Value", handle => _ = handle.Value.Length),
        new("CountOfKey", handle => _ = handle.CountOfKey),
        new("Seek(ReadOnlySpan<Byte>)", handle => handle.Seek(HandleSet.IdKey)),
        new("Seek(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.Seek(HandleSet.IdKey, HandleSet.Key)),
        new("SeekExact(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.SeekExact(HandleSet.IdKey, HandleSet.Key)),
        new("SeekForPrevious(ReadOnlySpan<Byte>)", handle => handle.SeekForPrevious(HandleSet.IdKey)),
        new("SeekForPrevious(ReadOnlySpan<Byte>, ReadOnlySpan<Byte>)", handle => handle.SeekForPrevious(HandleSet.IdKey, HandleSet.Key)),
        new("SeekFirst()", handle => handle.SeekFirst()),
        new("SeekLast()", handle => handle.SeekLast()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("MovePrevious()", handle => handle.MovePrevious()),
        new("MoveToNextKey()", handle => handle.MoveToNextKey()),
        new("MoveToPreviousKey()", handle => handle.MoveToPreviousKey()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    // Other rows need what the tree has.
    private static void ClearUnlessOpen(WriteValueSetTree tree)
    {
        if (tree.Count > 1)
            throw new InvalidOperationException("The rows before this one have left keys behind.");
        tree.Clear();
        HandleSet.Fill(tree);
    }
}
