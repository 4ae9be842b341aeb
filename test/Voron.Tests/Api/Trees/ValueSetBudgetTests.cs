using System.Text;
using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Api;

/// <summary>How many bytes each operation of a tree of value sets writes to the journal: of sets in leaves, and of large ones.</summary>
[Quick]
public sealed class ValueSetBudgetTests : IDisposable
{
    private const int Sets = 4_000;
    private const int Operations = 400;
    private const int Values = 8_000;

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options().Uncompressed());

    public ValueSetBudgetTests() => _environment.Write(static writing =>
    {
        var tree = writing.CreateValueSetTree("t");
        for (var set = 0; set < Sets; set++)
        {
            for (var i = 0; i < 20; i++)
                tree.Add(Key(set), Value(2 * i));
        }

        for (var i = 0; i < Values; i++)
            tree.Add("large"u8, Value(2 * i));
    });

    public void Dispose() => _environment.Dispose();

    // 12 bytes of value, its length, its place, those that shift, and the counts. A tenth of the changes doubles a room.
    [Fact]
    public void A_value_of_a_small_set_writes_itself_and_what_shifts()
    {
        Measure(Operations, 68, static (tree, i) => tree.Add(Scattered(i), Value(21)));
        Measure(Operations, 49, static (tree, i) => tree.Remove(Scattered(i), Value(20)));
    }

    // In many leaves of the companion. The record of the key is one, whose counts change.
    [Fact]
    public void A_value_of_a_large_set_writes_itself_and_what_shifts()
    {
        Measure(Operations, 286, static (tree, i) => tree.Add("large"u8, Value(40 * i + 1)));
        Measure(Operations, 54, static (tree, i) => tree.Remove("large"u8, Value(40 * i)));
        Measure(Values, 24, static (tree, i) => tree.Add("large"u8, Value(100_000 + i)));
    }

    [Fact]
    public void A_small_set_goes_with_the_slot_of_its_key() =>
        Measure(Operations, 32, static (tree, i) => tree.RemoveAll(Scattered(i)).Should().Be(20));

    // Two leaves of the companion are changed. Those in between are freed.
    [Fact]
    public void A_large_set_goes_with_few_bytes() =>
        _environment.MustJournal(1, 416, static writing => writing.OpenValueSetTree("t").RemoveAll("large"u8).Should().Be(Values));

    // All small sets and the large one, but for a few at the beginning.
    [Fact]
    public void A_range_of_keys_goes_with_few_bytes() => _environment.MustJournal(1, 480, static writing =>
        writing.OpenValueSetTree("t").DeleteRange(KeyRange.From(Key(10))).Should().Be(Sets - 10 + 1));

    // In ascending order, before the key of the large set.
    private static byte[] Key(int set) => [1, (byte)(set >> 8), (byte)set];

    // In no order, so that hardly two changes meet in a leaf.
    private static byte[] Scattered(int i) => Key((int)(i * 7919L % Sets));

    private static byte[] Value(int value) => Encoding.UTF8.GetBytes($"value {value:D6}");

    private void Measure(int count, double most, Func<WriteValueSetTree, int, bool> change) => Measure(
        count, most, (Action<WriteValueSetTree, int>)((tree, i) => change(tree, i).Should().BeTrue()));

    private void Measure(int count, double most, Action<WriteValueSetTree, int> change) => _environment.MustJournal(count, most, writing =>
    {
        var tree = writing.OpenValueSetTree("t");
        for (var i = 0; i < count; i++)
            change(tree, i);
    });
}
