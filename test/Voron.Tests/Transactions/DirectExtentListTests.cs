using Voron.Format;
using Voron.Transactions;

namespace Voron.Tests.Transactions;

[Quick]
public sealed class DirectExtentListTests
{
    /// <summary>
    /// A submitted transaction ends with this call: an exception for lack of memory would tell its caller that it was not committed.
    /// </summary>
    [Fact]
    public void Forgetting_extents_allocates_no_memory_however_many_there_were()
    {
        Allocated(10).Should().Be(0);
        Allocated(5_000).Should().Be(0);
    }

    [Fact]
    public void Extents_are_noted_again_after_many_have_been_forgotten()
    {
        var runs = new DirectExtentList();
        Fill(runs, 5_000);
        runs.Clear();
        runs.Count.Should().Be(0);
        runs.TryFree(2, 0);
        runs.RollBack(0, 0);
        Fill(runs, 3);
        runs.TryFree(2, 0);
        runs.All.Select(run => run.IsFreed).Should().Equal(false, false, true);
        runs.RollBack(3, 0);
        runs.All.Select(run => run.IsFreed).Should().Equal(false, false, false);
    }

    /// <summary>
    /// One extent has been freed and one added since the savepoint: the table of 17 is full. A failure there for lack of memory left the
    /// first extent marked as freed, for a commit after a second rollback.
    /// </summary>
    [Fact]
    public void A_rollback_asks_for_no_memory()
    {
        RollBack();
        var before = GC.GetAllocatedBytesForCurrentThread();
        RollBack().Should().BeLessThanOrEqualTo(0);
        GC.GetAllocatedBytesForCurrentThread().Should().BeGreaterThan(before, "the test measures something");

        static long RollBack()
        {
            const int FullTable = 17;
            var runs = new DirectExtentList();
            Fill(runs, FullTable);
            runs.TryFree(0, 1);
            runs.Add(Value(1_000));
            var before = GC.GetAllocatedBytesForCurrentThread();
            runs.RollBack(FullTable, 1);
            var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
            runs.All.Should().HaveCount(FullTable).And.OnlyContain(run => !run.IsFreed);
            return allocated;
        }
    }

    [Fact]
    public void Loaded_pages_are_freed_one_by_one()
    {
        var runs = new DirectExtentList();
        runs.Add(new TransactionExtent(7, 5, default, -1, IsDurable: true));
        runs.TryFree(7, 0);
        runs.All.Single().IsFreed.Should().BeFalse();
        runs.RollBack(0, 0);
        runs.Count.Should().Be(0);
    }

    private static TransactionExtent Value(long page) => new(page, 1, new DirectExtent { Length = 1 }, -1);

    private static long Allocated(int count)
    {
        new DirectExtentList().Clear();
        var runs = new DirectExtentList();
        Fill(runs, count);
        var before = GC.GetAllocatedBytesForCurrentThread();
        runs.Clear();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    private static void Fill(DirectExtentList runs, int count)
    {
        for (var i = 0; i < count; i++)
            runs.Add(Value(i));
    }
}
