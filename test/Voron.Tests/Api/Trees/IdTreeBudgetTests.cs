using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Api;

/// <summary>
/// How many bytes each operation of a tree of id sets writes to the journal: of sets of one id, and of few, which are stored in the leaf of their
/// key, and of sets with pages of their own.
/// </summary>
[Quick]
public sealed class IdTreeBudgetTests : IDisposable
{
    private const int Sets = 20_000;
    private const int Operations = 500;
    private const int Many = 50_000;

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options().Uncompressed());

    public IdTreeBudgetTests()
    {
        // The ids are far from each other, so a few of them take some ten bytes.
        _environment.Write(static writing =>
        {
            var (one, few, many) = (writing.CreateIdTree("one"), writing.CreateIdTree("few"), writing.CreateIdTree("many"));
            for (var set = 0; set < Sets; set++)
            {
                one.Add(Key(set), set);
                few.AddMany(Key(set), [.. Enumerable.Range(1, 12).Select(id => id * 1_000L)]);
            }

            many.AddMany("k"u8, [.. Enumerable.Range(0, Many).Select(id => id * 100L)]);
        });

        // Leaves have room then, as those of trees whose keys did not arrive in order have.
        _environment.Write(static writing =>
        {
            foreach (var tree in new[] { writing.OpenIdTree("one"), writing.OpenIdTree("few") })
            {
                for (var set = 3; set < Sets; set += 4)
                    tree.RemoveAll(Key(set));
            }
        });
    }

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void A_new_key_with_its_id_writes_both() => MeasureSets("one", 92, static (tree, set) => tree.Add(Key(set + 3), set));

    // A set of one id becomes a block, a longer record. The room of a leaf lies in the gaps that smaller records have left, so the leaf is packed.
    [Fact]
    public void A_second_id_writes_a_block() => MeasureSets("one", 460, static (tree, set) => tree.Add(Key(set), 1_000_000 + set));

    [Fact]
    public void A_key_that_goes_with_its_id_writes_the_slots_that_shift() => MeasureSets("one", 75, static (tree, set) => tree.Remove(Key(set), set));

    [Fact]
    public void An_id_behind_few_writes_itself() => MeasureSets("few", 15.2, static (tree, set) => tree.Add(Key(set), 13_000));

    [Fact]
    public void An_id_among_few_packs_them_again() => MeasureSets("few", 21.7, static (tree, set) => tree.Add(Key(set), 6_500));

    [Fact]
    public void An_id_removed_from_few_packs_the_rest_again() => MeasureSets("few", 30.8, static (tree, set) => tree.Remove(Key(set), 6_000));

    [Fact]
    public void All_ids_of_a_key_go_with_few_bytes() => MeasureSets("few", 68, static (tree, set) => tree.RemoveAll(Key(set)).Should().Be(12));

    // At the end of its set, as the ids of new rows are.
    [Fact]
    public void An_id_at_the_end_of_many_writes_itself() => Measure("many", 2.4, static (tree, i) => tree.Add("k"u8, 100L * Many + 100 * i));

    [Fact]
    public void An_id_among_many_packs_its_block_again() => Measure("many", 243, static (tree, i) => tree.Add("k"u8, 100L * Scattered(i, Many) + 7));

    [Fact]
    public void An_id_removed_from_many_packs_its_block_again() =>
        Measure("many", 243, static (tree, i) => tree.Remove("k"u8, 100L * Scattered(i, Many)));

    // The keys of two leaves are changed. The leaves in between are freed.
    [Fact]
    public void A_range_of_keys_is_deleted_with_few_bytes() => _environment.MustJournal(1, 520, static writing =>
        writing.OpenIdTree("few").DeleteRange(KeyRange.From(Key(12)).Before(Key(Sets - 12))).Should().Be(Sets * 3 / 4 - 18));

    // Pages of the set are freed, and only their numbers are noted.
    [Fact]
    public void All_ids_with_pages_of_their_own_go_with_few_bytes() => _environment.MustJournal(1, 360, static writing =>
        writing.OpenIdTree("many").RemoveAll("k"u8).Should().Be(Many));

    private static byte[] Key(int set) => [1, (byte)(set >> 8), (byte)set];

    private static int Scattered(int i, int count) => (int)(i * 7919L * 4 % count);

    private void Measure(string name, double most, Action<WriteIdTree, int> change) => _environment.MustJournal(Operations, most, writing =>
    {
        var tree = writing.OpenIdTree(name);
        for (var i = 0; i < Operations; i++)
            change(tree, i);
    });

    // Every fourth set, in no order, so that few changes meet in a leaf.
    private void MeasureSets(string name, double most, Action<WriteIdTree, int> change) =>
        Measure(name, most, (tree, i) => change(tree, Scattered(i, Sets)));
}
