namespace Voron.Tests.Lifetimes;

/// <content>Fixed-size trees: every key fits, and each value has one size.</content>
public sealed partial class ArgumentTests
{
    private const string Many = "GetMany(ReadOnlySpan<Int64>, Span<Byte>, Span<Boolean>)";

    private static IEnumerable<string> AnyFixedKeyFits =>
    [
        .. new[] { "FixedTree", "WriteFixedTree" }.SelectMany(tree => new[]
        {
            $"{tree}.TryGet(Int64, {Bytes})", $"{tree}.Contains(Int64)", $"{tree}.TryGetFirst(Int64, {Bytes})", $"{tree}.TryGetLast(Int64, {Bytes})",
            $"{tree}.TryGetFloor(Int64, Int64, {Bytes})", $"{tree}.TryGetCeiling(Int64, Int64, {Bytes})",
            $"{tree}.Range(Int64, Int64)",
        }),
        "WriteFixedTree.Delete(Int64)", "WriteFixedTree.DeleteRange(Int64, Int64)",
        "FixedCursor.Seek(Int64)", "FixedCursor.SeekExact(Int64)", "FixedCursor.SeekForPrevious(Int64)",
    ];

    private static IEnumerable<ArgumentRow> FixedTrees =>
    [
        .. Names("ReadTransaction.OpenFixedTree(String)", "name", (place, name) => place.Reading.OpenFixedTree(name)),
        .. Names("ReadTransaction.OpenFixedTree<T>(String)", "name", (place, name) => place.Reading.OpenFixedTree<long>(name)),
        .. Names("ReadTransaction.TryOpenFixedTree(String, FixedTree)", "name", (place, name) => place.Reading.TryOpenFixedTree(name, out _)),
        .. Names("WriteTransaction.CreateFixedTree(String, Int32)", "name", (place, name) => place.Writing.CreateFixedTree(name, 8)),
        new("WriteTransaction.CreateFixedTree(String, Int32)", "valueSize", typeof(ArgumentOutOfRangeException),
            place => place.Writing.CreateFixedTree("new", -1)),
        new("WriteTransaction.CreateFixedTree(String, Int32)", "valueSize", typeof(ArgumentOutOfRangeException),
            place => place.Writing.CreateFixedTree("new", 100_000)),
        .. Names("WriteTransaction.CreateFixedTree<T>(String)", "name", (place, name) => place.Writing.CreateFixedTree<long>(name)),
        .. Names("WriteTransaction.OpenFixedTree(String)", "name", (place, name) => place.Writing.OpenFixedTree(name)),
        .. Names("WriteTransaction.OpenFixedTree<T>(String)", "name", (place, name) => place.Writing.OpenFixedTree<long>(name)),
        .. Names("WriteTransaction.TryOpenFixedTree(String, WriteFixedTree)", "name", (place, name) => place.Writing.TryOpenFixedTree(name, out _)),
        new($"WriteFixedTree.Put(Int64, {Bytes})", "value", typeof(ArgumentException), place => Numbers(place).Put(1, [1])),
        new($"WriteFixedTree.Put(Int64, {Bytes})", "value", typeof(ArgumentException), place => Numbers(place).Put(1, new byte[9])),
        new("FixedTree.TryCopyTo(Int64, Span<Byte>)", "destination", typeof(ArgumentException),
            place => Numbers(place).AsReadOnly().TryCopyTo(HandleSet.FixedKey, new byte[7])),
        new("WriteFixedTree.TryCopyTo(Int64, Span<Byte>)", "destination", typeof(ArgumentException),
            place => Numbers(place).TryCopyTo(HandleSet.FixedKey, new byte[7])),
        new($"FixedTree.{Many}", "values", typeof(ArgumentException),
            place => Numbers(place).AsReadOnly().GetMany([1, 2], new byte[15], new bool[2])),
        new($"WriteFixedTree.{Many}", "values", typeof(ArgumentException), place => Numbers(place).GetMany([1, 2], new byte[15], new bool[2])),
        new($"WriteFixedTree.{Many}", "found", typeof(ArgumentException), place => Numbers(place).GetMany([1, 2], new byte[16], new bool[1])),
    ];

    private static WriteFixedTree Numbers(ArgumentPlace place) => place.Writing.OpenFixedTree(HandleSet.FixedName);
}
