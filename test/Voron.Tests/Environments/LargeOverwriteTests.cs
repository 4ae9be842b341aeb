using Voron.Tests.Faults;
using Voron.Torture.Simulation;

namespace Voron.Tests.Environments;

/// <summary>Large values are written to pages that no snapshot reads: what is overwritten is of use again only after a flush.</summary>
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
            FaultBench.Put(environment, i % 4, FaultBench.Value(i, ValueBytes));
        for (var i = 196; i < 200; i++)
            FaultBench.Get(environment, i % 4).Should().Equal(FaultBench.Value(i, ValueBytes));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_transaction_finds_room_in_what_those_before_it_have_freed()
    {
        var disk = new SimulatedDisk { SpaceLimit = 12 << 20 };
        using (var environment = StorageEnvironment.Open(disk, FaultBench.Options()))
        {
            FaultBench.Put(environment, 0, FaultBench.Value(0, 8 << 20));
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.OpenTree(FaultBench.TreeName);
                tree.Delete(FaultBench.Key(0));
                tree.Put(FaultBench.Key(5), FaultBench.Value(5, 100));
                writing.Commit();
            }

            using (var writing = environment.BeginWrite())
            {
                // Some pages of its own, and spans of pages that are to be flushed beside it.
                var tree = writing.OpenTree(FaultBench.TreeName);
                tree.TryGet(FaultBench.Key(5), out var read).Should().BeTrue();
                writing.CreateTree("other").Put(FaultBench.Key(1), FaultBench.Value(1, 3000));
                var savepoint = writing.CreateSavepoint();
                for (var i = 10; i < 14; i++)
                    tree.Put(FaultBench.Key(i), FaultBench.Value(i, 2 << 20));
                read.SequenceEqual(FaultBench.Value(5, 100)).Should().BeTrue();
                savepoint.Rollback();
                for (var i = 20; i < 23; i++)
                    tree.Put(FaultBench.Key(i), FaultBench.Value(i, 2 << 20));
                writing.Commit();
            }

            environment.Verify().Problems.Should().BeEmpty();
        }

        using var reopened = StorageEnvironment.Open(disk, FaultBench.Options());
        for (var i = 20; i < 23; i++)
            FaultBench.Get(reopened, i).Should().Equal(FaultBench.Value(i, 2 << 20));
        FaultBench.Get(reopened, 5).Should().Equal(FaultBench.Value(5, 100));
        reopened.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void What_a_reader_sees_is_not_taken_when_there_is_no_room()
    {
        var disk = new SimulatedDisk { SpaceLimit = 12 << 20 };
        using var environment = StorageEnvironment.Open(disk, FaultBench.Options());
        FaultBench.Put(environment, 0, FaultBench.Value(0, 8 << 20));
        using (var reading = environment.BeginRead())
        {
            using (var writing = environment.BeginWrite())
            {
                writing.OpenTree(FaultBench.TreeName).Delete(FaultBench.Key(0));
                writing.Commit();
            }

            FluentActions.Invoking(() => FaultBench.Put(environment, 1, FaultBench.Value(1, 8 << 20))).Should().Throw<StorageFullException>();
            reading.OpenTree(FaultBench.TreeName).TryGet(FaultBench.Key(0), out var value).Should().BeTrue();
            value.SequenceEqual(FaultBench.Value(0, 8 << 20)).Should().BeTrue();
        }

        FaultBench.Put(environment, 1, FaultBench.Value(1, 8 << 20));
        FaultBench.Get(environment, 1).Should().Equal(FaultBench.Value(1, 8 << 20));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Bytes_that_pass_the_journal_by_count_towards_a_flush()
    {
        using var flushed = new ManualResetEventSlim();
        var options = new StorageOptions { FlushInterval = TimeSpan.FromHours(1), FlushThresholdBytes = 4 << 20, FlushObserver = _ => flushed.Set() };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        for (var i = 0; i < 2 * (4 << 20) / ValueBytes; i++)
            FaultBench.Put(environment, 1, FaultBench.Value(i, ValueBytes));
        flushed.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken).Should().BeTrue("eight megabytes were written and seven freed");
    }
}
