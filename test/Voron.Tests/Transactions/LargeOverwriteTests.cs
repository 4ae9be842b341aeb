using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>Large values are written to pages that no snapshot reads: overwritten pages become usable again only after a flush.</summary>
[Quick]
public sealed class LargeOverwriteTests
{
    private const int ValueBytes = 256 << 10;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_disk_of_ten_times_the_live_data_never_fills_up(bool background)
    {
        var disk = new SimulatedDisk { SpaceLimit = 10 * 4 * ValueBytes };
        var options = new StorageOptions
        {
            BackgroundFlush = background,
            InitialJournalFileBytes = 256 << 10,
            MaxJournalFileBytes = 1 << 20,
            FlushInterval = TimeSpan.FromHours(1),
        };
        using var environment = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < 200; i++)
            FaultTestKit.Put(environment, i % 4, FaultTestKit.Value(i, ValueBytes));
        for (var i = 196; i < 200; i++)
            FaultTestKit.Get(environment, i % 4).Should().Equal(FaultTestKit.Value(i, ValueBytes));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_transaction_finds_room_in_pages_freed_by_earlier_ones()
    {
        var disk = new SimulatedDisk { SpaceLimit = 12 << 20 };
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 8 << 20));
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.OpenTree(FaultTestKit.TreeName);
                tree.Delete(FaultTestKit.Key(0));
                tree.Put(FaultTestKit.Key(5), FaultTestKit.Value(5, 100));
                writing.Commit();
            }

            using (var writing = environment.BeginWrite())
            {
                // The transaction has some pages of its own, and spans of pages that are to be flushed meanwhile.
                var tree = writing.OpenTree(FaultTestKit.TreeName);
                tree.TryGet(FaultTestKit.Key(5), out var read).Should().BeTrue();
                writing.CreateTree("other").Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 3000));
                var savepoint = writing.CreateSavepoint();
                for (var i = 10; i < 14; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 2 << 20));
                read.SequenceEqual(FaultTestKit.Value(5, 100)).Should().BeTrue();
                savepoint.Rollback();
                for (var i = 20; i < 23; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 2 << 20));
                writing.Commit();
            }

            environment.Verify().Problems.Should().BeEmpty();
        }

        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 20; i < 23; i++)
            FaultTestKit.Get(reopened, i).Should().Equal(FaultTestKit.Value(i, 2 << 20));
        FaultTestKit.Get(reopened, 5).Should().Equal(FaultTestKit.Value(5, 100));
        reopened.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Pages_that_a_reader_sees_are_not_reused_when_there_is_no_room()
    {
        var disk = new SimulatedDisk { SpaceLimit = 12 << 20 };
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 8 << 20));
        using (var reading = environment.BeginRead())
        {
            using (var writing = environment.BeginWrite())
            {
                writing.OpenTree(FaultTestKit.TreeName).Delete(FaultTestKit.Key(0));
                writing.Commit();
            }

            FluentActions.Invoking(() => FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 8 << 20))).Should().Throw<StorageFullException>();
            reading.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(0), out var value).Should().BeTrue();
            value.SequenceEqual(FaultTestKit.Value(0, 8 << 20)).Should().BeTrue();
        }

        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 8 << 20));
        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 8 << 20));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Bytes_that_pass_the_journal_by_count_towards_a_flush()
    {
        using var flushed = new ManualResetEventSlim();
        var options = new StorageOptions { FlushInterval = TimeSpan.FromHours(1), FlushThresholdBytes = 4 << 20, FlushObserver = _ => flushed.Set() };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        for (var i = 0; i < 2 * (4 << 20) / ValueBytes; i++)
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(i, ValueBytes));
        flushed.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue("eight megabytes were written and seven freed");
    }
}
