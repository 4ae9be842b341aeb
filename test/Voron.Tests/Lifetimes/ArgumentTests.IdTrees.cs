namespace Voron.Tests.Lifetimes;

/// <content>Trees of id sets.</content>
public sealed partial class ArgumentTests
{
    private const string AddMany = $"WriteIdTree.AddMany({Bytes}, ReadOnlySpan<Int64>, {Bytes})";
    private const string RemoveMany = $"WriteIdTree.RemoveMany({Bytes}, ReadOnlySpan<Int64>)";

    private static IEnumerable<string> AnyIdFits =>
    [
        .. new[] { "IdTree", "WriteIdTree" }.SelectMany(tree => new[]
        {
            $"{tree}.CountOf({Bytes})", $"{tree}.Contains({Bytes}, Int64)", $"{tree}.TryGetPayload({Bytes}, Int64, Byte)", $"{tree}.OpenIds({Bytes})",
            $"{tree}.Query({Bytes})",
        }),
        $"WriteIdTree.RemoveAll({Bytes})", "WriteIdTree.DeleteRange(KeyRange)",
        "IdCursor.Seek(Int64)", "IdCursor.SeekForPrevious(Int64)", "IdCursor.Fill(Span<Int64>)",
        $"IdKeyCursor.Seek({Bytes})", $"IdKeyCursor.SeekExact({Bytes})", $"IdKeyCursor.SeekForPrevious({Bytes})",
        "IdQuery.Seek(Int64)", "IdQuery.Fill(Span<Int64>)",
    ];

    private static IEnumerable<ArgumentRow> IdTrees =>
    [
        .. Names("ReadTransaction.OpenIdTree(String)", "name", (place, name) => place.Reading.OpenIdTree(name)),
        .. Names("ReadTransaction.TryOpenIdTree(String, IdTree)", "name", (place, name) => place.Reading.TryOpenIdTree(name, out _)),
        .. Names("WriteTransaction.CreateIdTree(String)", "name", (place, name) => place.Writing.CreateIdTree(name)),
        .. Names("WriteTransaction.OpenIdTree(String)", "name", (place, name) => place.Writing.OpenIdTree(name)),
        .. Names("WriteTransaction.TryOpenIdTree(String, WriteIdTree)", "name", (place, name) => place.Writing.TryOpenIdTree(name, out _)),
        .. Keys($"WriteIdTree.Add({Bytes}, Int64, Byte)", (place, key) => Sets(place).Add(key, 1)),
        new($"WriteIdTree.Add({Bytes}, Int64, Byte)", "id", typeof(ArgumentOutOfRangeException), place => Sets(place).Add([1], -1)),
        .. Keys($"WriteIdTree.Remove({Bytes}, Int64)", (place, key) => Sets(place).Remove(key, 1)),
        new($"WriteIdTree.Remove({Bytes}, Int64)", "id", typeof(ArgumentOutOfRangeException), place => Sets(place).Remove([1], long.MinValue)),
        .. Keys(AddMany, (place, key) => Sets(place).AddMany(key, [1])),
        new(AddMany, "ids", typeof(ArgumentOutOfRangeException), place => Sets(place).AddMany([1], [-1, 1])),
        new(AddMany, "ids", typeof(ArgumentException), place => Sets(place).AddMany([1], [1, 1])),
        new(AddMany, "ids", typeof(ArgumentException), place => Sets(place).AddMany([1], [.. Enumerable.Range(5, 1_000).Select(i => (long)i), 3])),
        new(AddMany, "payloads", typeof(ArgumentException), place => Sets(place).AddMany([1], [1, 2], [1])),
        .. Keys(RemoveMany, (place, key) => Sets(place).RemoveMany(key, [1])),
        new(RemoveMany, "ids", typeof(ArgumentException), place => Sets(place).RemoveMany(HandleSet.IdKey, [2, 1])),
        new(RemoveMany, "ids", typeof(ArgumentOutOfRangeException), place => Sets(place).RemoveMany(HandleSet.IdKey, [-2, 1])),
        new("IdCursor.Fill(Span<Int64>, Span<Byte>)", "payloads", typeof(ArgumentException),
            place => place.Reading.OpenIdTree(HandleSet.IdsName).OpenIds(HandleSet.IdKey).Fill(new long[2], new byte[1])),
        new("IdQuery.CopyTo(IBufferWriter<Byte>)", "writer", typeof(ArgumentNullException),
            place => place.Reading.OpenIdTree(HandleSet.IdsName).Query(HandleSet.IdKey).CopyTo(null!)),
    ];

    private static WriteIdTree Sets(ArgumentPlace place) => place.Writing.OpenIdTree(HandleSet.IdsName);
}
