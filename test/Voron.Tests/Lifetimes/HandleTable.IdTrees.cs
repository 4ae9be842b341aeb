using System.Buffers;

namespace Voron.Tests.Lifetimes;

/// <content>The handles of trees of id sets.</content>
internal static partial class HandleTable
{
    private static readonly byte[] NewIdKey = [77];

    public static IReadOnlyList<HandleRow<IdTree>> IdTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("ValueCount", handle => _ = handle.ValueCount),
        new("Name", handle => _ = handle.Name),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("CountOf(ReadOnlySpan<Byte>)", handle => handle.CountOf(HandleSet.IdKey)),
        new("Contains(ReadOnlySpan<Byte>, Int64)", handle => handle.Contains(HandleSet.IdKey, HandleSet.FixedKey)),
        new("TryGetPayload(ReadOnlySpan<Byte>, Int64, Byte)", handle => handle.TryGetPayload(HandleSet.IdKey, HandleSet.FixedKey, out _)),
        new("OpenIds(ReadOnlySpan<Byte>)", handle => handle.OpenIds(HandleSet.IdKey).Dispose()),
        new("Query(ReadOnlySpan<Byte>)", handle => handle.Query(HandleSet.IdKey).Dispose()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<WriteIdTree>> WriteIdTree { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("ValueCount", handle => _ = handle.ValueCount),
        new("Name", handle => _ = handle.Name),
        new("GetStatistics()", handle => handle.GetStatistics()),
        new("CountOf(ReadOnlySpan<Byte>)", handle => handle.CountOf(HandleSet.IdKey)),
        new("Contains(ReadOnlySpan<Byte>, Int64)", handle => handle.Contains(HandleSet.IdKey, HandleSet.FixedKey)),
        new("TryGetPayload(ReadOnlySpan<Byte>, Int64, Byte)", handle => handle.TryGetPayload(HandleSet.IdKey, HandleSet.FixedKey, out _)),
        new("OpenIds(ReadOnlySpan<Byte>)", handle => handle.OpenIds(HandleSet.IdKey).Dispose()),
        new("Query(ReadOnlySpan<Byte>)", handle => handle.Query(HandleSet.IdKey).Dispose()),
        new("OpenCursor()", handle => handle.OpenCursor().Dispose()),
        new("AsReadOnly()", handle => handle.AsReadOnly()) { WorksAlways = true },
        new("ToIdTree()", handle => handle.ToIdTree()) { WorksAlways = true },
        new("Add(ReadOnlySpan<Byte>, Int64, Byte)", handle => handle.Add(NewIdKey, 1, 2)),
        new("Remove(ReadOnlySpan<Byte>, Int64)", handle => handle.Remove(NewIdKey, 1)),
        new("AddMany(ReadOnlySpan<Byte>, ReadOnlySpan<Int64>, ReadOnlySpan<Byte>)", handle => handle.AddMany(NewIdKey, [1, 2])),
        new("RemoveMany(ReadOnlySpan<Byte>, ReadOnlySpan<Int64>)", handle => handle.RemoveMany(NewIdKey, [1, 2])),
        new("RemoveAll(ReadOnlySpan<Byte>)", handle => handle.RemoveAll(NewIdKey)),
        new("DeleteRange(KeyRange)", handle => handle.DeleteRange(KeyRange.From(NewIdKey))),
        new("Clear()", handle => ClearUnlessOpen(handle)),
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<IdCursor>> IdCursor { get; } =
    [
        new("Count", handle => _ = handle.Count),
        new("IsOnId", handle => _ = handle.IsOnId),
        new("Id", handle => _ = handle.Id),
        new("Payload", handle => _ = handle.Payload),
        new("Seek(Int64)", handle => handle.Seek(HandleSet.FixedKey)),
        new("SeekForPrevious(Int64)", handle => handle.SeekForPrevious(HandleSet.FixedKey)),
        new("SeekFirst()", handle => handle.SeekFirst()),
        new("SeekLast()", handle => handle.SeekLast()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("MovePrevious()", handle => handle.MovePrevious()),
        new("Fill(Span<Int64>)", handle => handle.Fill(new long[2])),
        new("Fill(Span<Int64>, Span<Byte>)", handle => handle.Fill(new long[2], new byte[2])),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<IdKeyCursor>> IdKeyCursor { get; } =
    [
        new("IsOnKey", handle => _ = handle.IsOnKey),
        new("Key", handle => _ = handle.Key.Length),
        new("Count", handle => _ = handle.Count),
        new("OpenIds()", handle => handle.OpenIds().Dispose()),
        new("Query()", handle => handle.Query().Dispose()),
        new("Seek(ReadOnlySpan<Byte>)", handle => handle.Seek(HandleSet.IdKey)),
        new("SeekExact(ReadOnlySpan<Byte>)", handle => handle.SeekExact(HandleSet.IdKey)),
        new("SeekForPrevious(ReadOnlySpan<Byte>)", handle => handle.SeekForPrevious(HandleSet.IdKey)),
        new("SeekFirst()", handle => handle.SeekFirst()),
        new("SeekLast()", handle => handle.SeekLast()),
        new("MoveNext()", handle => handle.MoveNext()),
        new("MovePrevious()", handle => handle.MovePrevious()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    public static IReadOnlyList<HandleRow<IdQuery>> IdQuery { get; } =
    [
        new("MostIds", handle => handle.MostIds.Should().Be(99)) { WorksAlways = true },
        new("Seek(Int64)", handle => handle.Seek(HandleSet.FixedKey)),
        new("Current", handle => _ = handle.Current),
        new("MoveNext()", handle => handle.MoveNext()),
        new("Fill(Span<Int64>)", handle => handle.Fill(new long[2])),
        new("CopyTo(IBufferWriter<Byte>)", handle => handle.CopyTo(new ArrayBufferWriter<byte>())),
        new("CountRest()", handle => handle.CountRest()),
        new("Dispose()", handle => handle.Dispose()) { WorksAlways = true },
        new("ToString()", handle => handle.ToString().Should().NotBeEmpty()) { WorksAlways = true },
    ];

    // Other rows need what the tree has.
    private static void ClearUnlessOpen(WriteIdTree tree)
    {
        if (tree.Count > 1)
            throw new InvalidOperationException("The rows before this one have left keys behind.");
        tree.Clear();
        HandleSet.Fill(tree);
    }
}
