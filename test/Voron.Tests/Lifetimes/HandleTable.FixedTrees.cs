namespace Voron.Tests.Lifetimes;

/// <content>The handles of fixed-size trees.</content>
internal static partial class HandleTable
{
    private const long NewFixedKey = 500;

    public static IReadOnlyList<HandleRow<FixedTree>> FixedTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("Name", handle => _ = handle.Name),
        new("ValueSize", handle => _ = handle.ValueSize),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("TryGet(Int64, ReadOnlySpan<Byte>)", handle => handle.TryGet(HandleSet.FixedKey, out _)),
        new("TryCopyTo(Int64, Span<Byte>)", handle => handle.TryCopyTo(HandleSet.FixedKey, new byte[sizeof(long)])),
        new("Contains(Int64)", handle => handle.Contains(HandleSet.FixedKey)),
        new("TryGetFirst(Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetFirst(out _, out _)),
        new("TryGetLast(Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetLast(out _, out _)),
        new("TryGetFloor(Int64, Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetFloor(HandleSet.FixedKey, out _, out _)),
        new("TryGetCeiling(Int64, Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetCeiling(HandleSet.FixedKey, out _, out _)),
        new(
            "GetMany(ReadOnlySpan<Int64>, Span<Byte>, Span<Boolean>)",
            handle => handle.GetMany([HandleSet.FixedKey], new byte[sizeof(long)], new bool[1])),
        new("Range(Int64, Int64)", handle => handle.Range(0, HandleSet.FixedKey)),
        new("GetEntries()", handle => handle.GetEntries()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<FixedTree<long>>> TypedTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("Name", handle => _ = handle.Name),
        new("AsBytes()", handle => handle.AsBytes()) { WorksAlways = true },
        new("TryGet(Int64, Int64)", handle => handle.TryGet(HandleSet.FixedKey, out _)),
        new("Get(Int64)", handle => _ = handle.Get(HandleSet.FixedKey)),
        new("Contains(Int64)", handle => handle.Contains(HandleSet.FixedKey)),
        new("TryGetFirst(Int64, Int64)", handle => handle.TryGetFirst(out _, out _)),
        new("TryGetLast(Int64, Int64)", handle => handle.TryGetLast(out _, out _)),
        new("TryGetFloor(Int64, Int64, Int64)", handle => handle.TryGetFloor(HandleSet.FixedKey, out _, out _)),
        new("TryGetCeiling(Int64, Int64, Int64)", handle => handle.TryGetCeiling(HandleSet.FixedKey, out _, out _)),
        new(
            "GetMany(ReadOnlySpan<Int64>, Span<Int64>, Span<Boolean>)",
            handle => handle.GetMany([HandleSet.FixedKey], new long[1], new bool[1])),
        new("Range(Int64, Int64)", handle => handle.Range(0, HandleSet.FixedKey)),
        new("GetEntries()", handle => handle.GetEntries()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteFixedTree>> WriteFixedTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("Name", handle => _ = handle.Name),
        new("ValueSize", handle => _ = handle.ValueSize),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("TryGet(Int64, ReadOnlySpan<Byte>)", handle => handle.TryGet(HandleSet.FixedKey, out _)),
        new("TryCopyTo(Int64, Span<Byte>)", handle => handle.TryCopyTo(HandleSet.FixedKey, new byte[sizeof(long)])),
        new("Contains(Int64)", handle => handle.Contains(HandleSet.FixedKey)),
        new("TryGetFirst(Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetFirst(out _, out _)),
        new("TryGetLast(Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetLast(out _, out _)),
        new("TryGetFloor(Int64, Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetFloor(HandleSet.FixedKey, out _, out _)),
        new("TryGetCeiling(Int64, Int64, ReadOnlySpan<Byte>)", handle => handle.TryGetCeiling(HandleSet.FixedKey, out _, out _)),
        new(
            "GetMany(ReadOnlySpan<Int64>, Span<Byte>, Span<Boolean>)",
            handle => handle.GetMany([HandleSet.FixedKey], new byte[sizeof(long)], new bool[1])),
        new("Range(Int64, Int64)", handle => handle.Range(0, HandleSet.FixedKey)),
        new("GetEntries()", handle => handle.GetEntries()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("AsReadOnly()", handle => handle.AsReadOnly()) { WorksAlways = true },
        new("ToFixedTree()", handle => handle.ToFixedTree()) { WorksAlways = true },
        new("Put(Int64, ReadOnlySpan<Byte>)", handle => handle.Put(NewFixedKey, new byte[sizeof(long)])),
        new("Delete(Int64)", handle => handle.Delete(NewFixedKey)),
        new("DeleteRange(Int64, Int64)", handle => handle.DeleteRange(NewFixedKey, long.MaxValue)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteFixedTree<long>>> TypedWriteTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("Name", handle => _ = handle.Name),
        new("AsBytes()", handle => handle.AsBytes()) { WorksAlways = true },
        new("TryGet(Int64, Int64)", handle => handle.TryGet(HandleSet.FixedKey, out _)),
        new("Get(Int64)", handle => _ = handle.Get(HandleSet.FixedKey)),
        new("Contains(Int64)", handle => handle.Contains(HandleSet.FixedKey)),
        new("TryGetFirst(Int64, Int64)", handle => handle.TryGetFirst(out _, out _)),
        new("TryGetLast(Int64, Int64)", handle => handle.TryGetLast(out _, out _)),
        new("TryGetFloor(Int64, Int64, Int64)", handle => handle.TryGetFloor(HandleSet.FixedKey, out _, out _)),
        new("TryGetCeiling(Int64, Int64, Int64)", handle => handle.TryGetCeiling(HandleSet.FixedKey, out _, out _)),
        new(
            "GetMany(ReadOnlySpan<Int64>, Span<Int64>, Span<Boolean>)",
            handle => handle.GetMany([HandleSet.FixedKey], new long[1], new bool[1])),
        new("Range(Int64, Int64)", handle => handle.Range(0, HandleSet.FixedKey)),
        new("GetEntries()", handle => handle.GetEntries()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("AsReadOnly()", handle => handle.AsReadOnly()) { WorksAlways = true },
        new("ToFixedTree()", handle => handle.ToFixedTree()) { WorksAlways = true },
        new("Put(Int64, Int64)", handle => handle.Put(NewFixedKey, 5)),
        new("Delete(Int64)", handle => handle.Delete(NewFixedKey)),
        new("DeleteRange(Int64, Int64)", handle => handle.DeleteRange(NewFixedKey, long.MaxValue)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<FixedRange>> FixedRange { get; } =
    [
        new("Reverse()", handle => handle.Reverse()),
        new("GetEnumerator()", handle => handle.GetEnumerator().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<FixedRange<long>>> TypedRange { get; } =
    [
        new("Reverse()", handle => handle.Reverse()),
        new("GetEnumerator()", handle => handle.GetEnumerator().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<FixedRange.Enumerator>> FixedEnumerator { get; } =
    [
        new("Current", handle => _ = handle.Current.Key),
        new("MoveNext()", handle => handle.MoveNext()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<FixedRange<long>.Enumerator>> TypedEnumerator { get; } =
    [
        new("Current", handle => _ = handle.Current.Key),
        new("MoveNext()", handle => handle.MoveNext()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<FixedCursor>> FixedCursor { get; } =
    [
        new("IsOnEntry", handle => _ = handle.IsOnEntry),
        new("Key", handle => _ = handle.Key),
        new("Value", handle => _ = handle.Value.Length),
        new("ValueAs<T>()", handle => _ = handle.ValueAs<long>()),
        new("Seek(Int64)", handle => handle.Seek(HandleSet.FixedKey)),
        new("SeekExact(Int64)", handle => handle.SeekExact(HandleSet.FixedKey)),
        new("SeekForPrevious(Int64)", handle => handle.SeekForPrevious(HandleSet.FixedKey)),
        new("SeekFirst()", handle => handle.SeekFirst()),
        new("SeekLast()", handle => handle.SeekLast()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("MovePrevious()", handle => handle.MovePrevious()),
        new("Delete()", handle => DeleteIn(handle)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
    ];

    // In a read transaction, the call is refused for that reason, but only while the cursor can be used.
    private static void DeleteIn(FixedCursor cursor)
    {
        try
        {
            cursor.Delete();
        }
        catch (InvalidOperationException e) when (e.Message.Contains("read transaction and cannot", StringComparison.Ordinal))
        {
            cursor.IsOnEntry.Should().BeTrue();
        }
    }
}
