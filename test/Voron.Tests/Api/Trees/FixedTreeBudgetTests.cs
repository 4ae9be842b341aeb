using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Api;

/// <summary>How many bytes each operation of a fixed-size tree writes to the journal.</summary>
[Quick]
public sealed class FixedTreeBudgetTests : IDisposable
{
    private const int Keys = 50_000;
    private const int Operations = 500;

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options().Uncompressed());

    // In no order, so that pages have room, as those of a tree that has grown for a while have.
    public FixedTreeBudgetTests() => _environment.Write(static writing =>
    {
        var tree = writing.CreateFixedTree<long>("t");
        for (var i = 0; i < Keys; i++)
            tree.Put(2 * Scattered(i), i * 0x0101_0101_0101);
    });

    private static long Scattered(int i) => i * 30_011L % Keys;

    public void Dispose() => _environment.Dispose();

    // The eight bytes of a value, and their place.
    [Fact]
    public void A_value_that_is_replaced_writes_itself() => Measure(21, static (tree, i) => tree.Put(2L * i, -i));

    [Fact]
    public void An_entry_at_the_end_writes_itself() => Measure(32, static (tree, i) => tree.Put(2L * Keys + i, -i));

    // The numbers of the entries behind it shift by a byte.
    [Fact]
    public void An_entry_elsewhere_writes_the_numbers_that_shift() => Measure(127, static (tree, i) => tree.Put(2L * i + 1, -i));

    [Fact]
    public void A_deletion_writes_the_numbers_that_shift() => Measure(101, static (tree, i) => tree.Delete(2L * i).Should().BeTrue());

    // Two leaves are cut. Those in between are freed, and their branches shrink.
    [Fact]
    public void A_range_is_deleted_with_few_bytes()
    {
        _environment.MustJournal(1, 890, static writing =>
            writing.OpenFixedTree<long>("t").DeleteRange(1_001, 2L * Keys - 1_001).Should().Be(Keys - 1_001));
    }

    // In no order, so that two or three changes meet in a page of 237 entries.
    private void Measure(double most, Action<WriteFixedTree<long>, int> change) => _environment.MustJournal(Operations, most, writing =>
    {
        var tree = writing.OpenFixedTree<long>("t");
        for (var i = 0; i < Operations; i++)
            change(tree, (int)(i * 7919L % Keys));
    });
}
