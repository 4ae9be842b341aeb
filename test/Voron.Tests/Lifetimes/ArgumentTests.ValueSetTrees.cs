namespace Voron.Tests.Lifetimes;

/// <content>Trees of value sets.</content>
public sealed partial class ArgumentTests
{
    private static IEnumerable<string> AnyValueFits =>
    [
        .. new[] { "ValueSetTree", "WriteValueSetTree" }.SelectMany(tree => new[]
        {
            $"{tree}.CountOf({Bytes})", $"{tree}.Contains({Bytes}, {Bytes})", $"{tree}.OpenValues({Bytes})",
        }),
        "WriteValueSetTree.DeleteRange(KeyRange)",
        $"ValueCursor.Seek({Bytes})", $"ValueCursor.SeekExact({Bytes})", $"ValueCursor.SeekForPrevious({Bytes})",
        $"ValueSetCursor.Seek({Bytes})", $"ValueSetCursor.Seek({Bytes}, {Bytes})", $"ValueSetCursor.SeekExact({Bytes}, {Bytes})",
        $"ValueSetCursor.SeekForPrevious({Bytes})", $"ValueSetCursor.SeekForPrevious({Bytes}, {Bytes})",
    ];

    private static IEnumerable<ArgumentRow> ValueSetTreeRows =>
    [
        .. Names("ReadTransaction.OpenValueSetTree(String)", "name", (place, name) => place.Reading.OpenValueSetTree(name)),
        .. Names(
            "ReadTransaction.TryOpenValueSetTree(String, ValueSetTree)", "name", (place, name) => place.Reading.TryOpenValueSetTree(name, out _)),
        .. Names("WriteTransaction.CreateValueSetTree(String)", "name", (place, name) => place.Writing.CreateValueSetTree(name)),
        .. Names("WriteTransaction.OpenValueSetTree(String)", "name", (place, name) => place.Writing.OpenValueSetTree(name)),
        .. Names(
            "WriteTransaction.TryOpenValueSetTree(String, WriteValueSetTree)", "name",
            (place, name) => place.Writing.TryOpenValueSetTree(name, out _)),
        .. Keys($"WriteValueSetTree.Add({Bytes}, {Bytes})", (place, key) => ValueSets(place).Add(key, [1])),
        new($"WriteValueSetTree.Add({Bytes}, {Bytes})", "value", typeof(ArgumentException), place => ValueSets(place).Add([1], default)),
        new($"WriteValueSetTree.Add({Bytes}, {Bytes})", "value", typeof(ArgumentException), place => ValueSets(place).Add([1], new byte[70_000])),
        .. Keys($"WriteValueSetTree.Remove({Bytes}, {Bytes})", (place, key) => ValueSets(place).Remove(key, [1])),
        new($"WriteValueSetTree.Remove({Bytes}, {Bytes})", "value", typeof(ArgumentException), place => ValueSets(place).Remove([1], default)),
        .. Keys($"WriteValueSetTree.RemoveAll({Bytes})", (place, key) => ValueSets(place).RemoveAll(key)),
    ];

    private static WriteValueSetTree ValueSets(ArgumentPlace place) => place.Writing.OpenValueSetTree(HandleSet.ValueSetsName);
}
