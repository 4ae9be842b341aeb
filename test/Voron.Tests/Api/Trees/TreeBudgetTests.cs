using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Api;

/// <summary>How many bytes each operation of an ordinary tree writes to the journal, and the deletion of a range or of a whole tree.</summary>
[Quick]
public sealed class TreeBudgetTests : IDisposable
{
    private const int Keys = 20_000;
    private const int Operations = 500;
    private const string Name = "t";

    private static readonly byte[] Counter = new byte[8];

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options().Uncompressed());

    public TreeBudgetTests()
    {
        _environment.Write(static writing =>
        {
            var (tree, counters) = (writing.CreateTree(Name), writing.CreateTree("counters"));
            for (var i = 0; i < Keys; i++)
            {
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 50));
                counters.Put(FaultTestKit.Key(i), Counter);
            }
        });

        // Leaves have room for new entries then, as those of trees that did not arrive in order have.
        _environment.Write(static writing =>
        {
            var tree = writing.OpenTree(Name);
            for (var i = 3; i < Keys; i += 4)
                tree.Delete(FaultTestKit.Key(i));
        });
    }

    public void Dispose() => _environment.Dispose();

    // A value of 50 bytes, and the place of the change. Random bytes differ in nearly all of them.
    [Fact]
    public void A_value_that_is_replaced_writes_itself()
    {
        Measure(76, static (tree, i) => tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i + Keys, 50)));
        Measure(76, static (tree, i) => tree.Exchange(FaultTestKit.Key(i), FaultTestKit.Value(i + 2 * Keys, 50)));
        Measure(76, static (tree, i) =>
            tree.CompareExchange(FaultTestKit.Key(i), FaultTestKit.Value(i, 50), FaultTestKit.Value(i + 2 * Keys, 50)).Should().BeTrue());
    }

    // Beside the value of 50 bytes, the key of 6, and the slots that shift.
    [Fact]
    public void A_new_entry_writes_itself_and_its_slot()
    {
        Measure(135, static (tree, i) => tree.Insert(FaultTestKit.Key(i + 3), FaultTestKit.Value(i, 50)).Should().BeTrue());
    }

    [Fact]
    public void A_deletion_writes_the_slots_that_shift()
    {
        Measure(62, static (tree, i) => tree.Delete(FaultTestKit.Key(i)).Should().BeTrue());
        Measure(61, static (tree, i) => tree.DeleteIf(FaultTestKit.Key(i + 1), FaultTestKit.Value(i + 1, 50)).Should().BeTrue());
        Measure(60, static (tree, i) => tree.Remove(FaultTestKit.Key(i + 2)).Should().NotBeNull());
    }

    [Fact]
    public void A_counter_writes_the_bytes_that_change()
    {
        Measure(10.5, static (tree, i) => tree.Add(FaultTestKit.Key(i), 1_000_000), "counters");
    }

    // Two leaves are changed. Those in between are freed, and the branches above them shrink: so a tenth of ten million entries is to take less than
    // 64 KiB.
    [Fact]
    public void A_tenth_of_a_tree_is_deleted_with_few_bytes() => _environment.MustJournal(1, 800, static writing =>
    {
        var tenth = KeyRange.From(FaultTestKit.Key(Keys / 2)).Before(FaultTestKit.Key(Keys * 3 / 5));
        writing.OpenTree(Name).DeleteRange(tenth).Should().Be(Keys * 3 / 40);
    });

    [Fact]
    public void Nearly_all_of_a_tree_is_deleted_with_few_bytes() => _environment.MustJournal(1, 3_200, static writing =>
        writing.OpenTree(Name).DeleteRange(KeyRange.From(FaultTestKit.Key(12)).Before(FaultTestKit.Key(Keys - 12))).Should().Be(Keys * 3 / 4 - 18));

    // The pages are freed unread, up to a thousand in a transaction, and the records name ranges of them.
    [Fact]
    public async Task A_large_tree_is_dropped_with_few_bytes_for_each_page()
    {
        _environment.Write(static writing =>
        {
            var tree = writing.CreateTree("large");
            for (var i = 0; i < 30_000; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 300));
        });
        long pages;
        using (var reading = _environment.BeginRead())
            pages = reading.OpenTree("large").GetStatistics().LeafPages;
        var bytes = await _environment.JournaledAsync(async () =>
            (await _environment.DropTreeAsync("large", TestContext.Current.CancellationToken)).Should().BeTrue());
        JournalMeter.MustFit(bytes, (int)pages, 8.5);
    }

    // Every fourth key, in no order, so that hardly two changes meet in a leaf of 45 entries.
    private void Measure(double most, Action<WriteTree, int> change, string name = Name) =>
        _environment.MustJournal(Operations, most, writing =>
        {
            var tree = writing.OpenTree(name);
            for (var i = 0; i < Operations; i++)
                change(tree, (int)(i * 7919L * 4 % Keys));
        });
}
