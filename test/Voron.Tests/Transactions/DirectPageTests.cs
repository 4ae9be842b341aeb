using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// A transaction that fills many pages writes them to the data file, and only their checksums to the journal. They must be there when the record
/// counts, and no page that anything else needs may be overwritten.
/// </summary>
public sealed class DirectPageTests
{
    private const string Data = "voron.data";
    private const int Items = 400;

    private static readonly StorageOptions Direct = Options(1);

    [Fact]
    public void Full_new_pages_are_written_once_and_survive_a_kill()
    {
        var (direct, journaled) = (JournalBytes(1), JournalBytes(long.MaxValue));
        direct.Should().BeLessThan(journaled / 4);
    }

    [Fact]
    public void A_record_whose_pages_were_lost_is_dropped()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Direct);
        Fill(environment, 0);
        Fill(environment, 1);
        var cut = LastSync(disk);

        using (var lost = StorageEnvironment.Open(new CrashImages(disk).BuildLost(cut), Direct))
        {
            lost.Recovery.TransactionId.Should().Be(1);
            lost.Recovery.DroppedRecords.Should().Be(1);
            Check(lost, 0);
            FaultTestKit.Get(lost, Items).Should().BeNull();
            lost.Verify().Problems.Should().BeEmpty();
            Fill(lost, 2);
            Check(lost, 2);
        }

        using var kept = StorageEnvironment.Open(new CrashImages(disk).BuildKept(cut), Direct);
        kept.Recovery.DroppedRecords.Should().Be(0);
        Check(kept, 0);
        Check(kept, 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Pages_that_change_again_are_replayed_over_what_was_written(bool flushes)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Direct);
        Fill(environment, 0);
        for (var i = 0; i < Items; i += 7)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i + 5000, 100));
        var cut = disk.TraceCount;
        if (flushes)
        {
            // Cut within the flush: some of the pages are overwritten, some not.
            environment.Flush();
            cut = (cut + disk.TraceCount) / 2;
        }

        for (var seed = 0; seed < 20; seed++)
        {
            using var opened = StorageEnvironment.Open(new CrashImages(disk).Build(cut, new Random(seed)), Direct);
            for (var i = 0; i < Items; i++)
                FaultTestKit.Get(opened, i).Should().Equal(FaultTestKit.Value(i % 7 == 0 ? i + 5000 : i, 100), "seed {0}", seed);
            opened.Verify().Problems.Should().BeEmpty();
        }
    }

    [Fact]
    public void A_page_that_the_same_transaction_has_freed_is_not_overwritten()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Direct);
        Fill(environment, 0);
        environment.Flush();
        using var reading = environment.BeginRead();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            tree.Clear();
            for (var i = 0; i < Items; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i + 9000, 100));
            writing.Commit();
        }

        // The reader's pages are in the data file, and the power may fail before the record is durable.
        for (var i = 0; i < Items; i++)
            reading.OpenTree(FaultTestKit.TreeName).Get(FaultTestKit.Key(i)).Should().Equal(FaultTestKit.Value(i, 100));
        for (var seed = 0; seed < 20; seed++)
        {
            using var opened = StorageEnvironment.Open(new CrashImages(disk).Build(LastSync(disk), new Random(seed)), Direct);
            var first = FaultTestKit.Get(opened, 0)!;
            var shift = first.AsSpan().SequenceEqual(FaultTestKit.Value(0, 100)) ? 0 : 9000;
            for (var i = 0; i < Items; i++)
                FaultTestKit.Get(opened, i).Should().Equal(FaultTestKit.Value(i + shift, 100), "seed {0}", seed);
            opened.Verify().Problems.Should().BeEmpty();
        }
    }

    [Fact]
    public void A_page_that_an_older_one_has_replaced_is_damage()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Direct))
        {
            Fill(environment, 0);
            using (var writing = environment.BeginWrite())
            {
                writing.OpenTree(FaultTestKit.TreeName).Clear();
                writing.Commit();
            }

            environment.Flush();
            var before = disk.Contents(Data);
            Fill(environment, 1);
            FaultTestKit.Put(environment, 5000, [1]);
            var files = FaultTestKit.Bytes(disk);
            var replaced = 0;
            for (var page = 4096; page < before.Length; page += 4096)
            {
                // The kind of a leaf, and content of the second transaction.
                var now = files[Data].AsSpan(page, 4096);
                var old = before.AsSpan(page, 4096);
                if (old[40] != 1 || now[40] != 1 || now.SequenceEqual(old))
                    continue;
                old.CopyTo(now);
                replaced++;
                break;
            }

            replaced.Should().Be(1, "the second transaction takes pages that the first one had filled");
            var open = () => StorageEnvironment.Open(FaultTestKit.DiskOf(files), Direct).Dispose();
            open.Should().Throw<CorruptionException>().WithMessage("*an older page is in its place*");
        }
    }

    private static StorageOptions Options(long directPageBytes)
    {
        var options = FaultTestKit.Options();
        options.JournalCompression = JournalCompression.Never;
        options.DirectPageBytes = directPageBytes;
        return options;
    }

    private static long JournalBytes(long directPageBytes)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(directPageBytes));
        Fill(environment, 0);
        using var killed = StorageEnvironment.Open(new CrashImages(disk).BuildKilled(disk.TraceCount), Options(directPageBytes));
        Check(killed, 0);
        killed.Verify().Problems.Should().BeEmpty();
        return killed.Recovery.ReplayedBytes;
    }

    // Ascending keys, so that each page but the last is full.
    private static void Fill(StorageEnvironment environment, int part)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var i = part * Items; i < (part + 1) * Items; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 100));
        writing.Commit();
    }

    private static void Check(StorageEnvironment environment, int part)
    {
        for (var i = part * Items; i < (part + 1) * Items; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, 100));
    }

    private static int LastSync(SimulatedDisk disk)
    {
        for (var i = disk.TraceCount - 1; i >= 0; i--)
        {
            if (disk.Trace(i).Kind == TraceKind.Sync && disk.Trace(i).File == disk.FileOf(Data))
                return i;
        }

        throw new InvalidOperationException("The data file was never synced.");
    }
}
