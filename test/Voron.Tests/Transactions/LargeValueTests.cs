using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Tests.Transactions;

/// <summary>Values that are written once, straight to the data file, past the page cache or through it.</summary>
public sealed class LargeValueTests
{
    private static readonly StorageOptions Manual = new() { BackgroundFlush = false, JournaledValueBytes = 0, MaxGrowthBytes = 4 << 20 };

    /// <summary>Lengths of one chunk and of several, of one piece and of several, aligned and not.</summary>
    private static readonly int[] Lengths = [16 << 10, 20_001, 64 << 10, (64 << 10) + 1, 256 << 10, 300_000, 1 << 20, (3 << 20) + 5];

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_acknowledged_value_is_there_whole_after_any_power_cut(bool unbuffered)
    {
        var disk = new SimulatedDisk { MapsSeeUnbufferedWrites = unbuffered };
        int committed;
        using (var environment = StorageEnvironment.Open(disk, Manual))
        {
            using (var writing = environment.BeginWrite())
            {
                writing.CreateTree("t");
                writing.Commit();
            }

            using (var writing = environment.BeginWrite())
            {
                var tree = writing.OpenTree("t");
                for (var i = 0; i < Lengths.Length; i++)
                    tree.Put([(byte)i], Value(i));
                writing.Commit();
            }

            committed = disk.TraceCount;
        }

        var images = new CrashImages(disk);
        var random = new Random(1);
        foreach (var image in (SimulatedDisk[])[images.BuildLost(committed), images.Build(committed, random), images.BuildKilled(committed)])
        {
            using var environment = StorageEnvironment.Open(image, Manual);
            Check(environment, Lengths.Length);
        }

        // Before that, either the whole transaction is found or nothing of it.
        for (var cut = Math.Max(0, committed - 40); cut < committed; cut++)
        {
            using var environment = StorageEnvironment.Open(images.Build(cut, random), Manual);
            using var reading = environment.BeginRead();
            if (reading.TryOpenTree("t", out var tree) && tree.TryGet([0], out _))
                Check(environment, Lengths.Length);
        }
    }

    [Fact]
    public void A_transaction_reads_its_own_changes()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Manual);
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 0; i < Lengths.Length; i++)
        {
            tree.Put([(byte)i], Value(i));
            for (var j = 0; j <= i; j++)
            {
                tree.TryGet([(byte)j], out var value).Should().BeTrue();
                value.SequenceEqual(Value(j)).Should().BeTrue();
            }
        }
    }

    [Fact]
    public void A_value_that_was_rolled_back_never_reaches_the_pages_of_the_next_transaction()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Manual);
        for (var round = 0; round < 20; round++)
        {
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree("t");
                tree.Put([99], new byte[2 << 20]);
                tree.Put([98], new byte[100_000]);
            }

            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree("t");
                var savepoint = writing.CreateSavepoint();
                tree.Put([97], new byte[900_000]);
                savepoint.Rollback();
                savepoint.Dispose();
                for (var i = 0; i < Lengths.Length; i++)
                    tree.Put([(byte)i], Value(i));
                writing.Commit();
            }

            Check(environment, Lengths.Length);
            environment.Flush();
        }
    }

    [Fact]
    public void A_value_that_its_own_transaction_deleted_never_reaches_the_pages_of_the_next_one()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Manual);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            tree.Put([1], new byte[100_000]);
            tree.Delete([1]);
            writing.Commit();
        }

        environment.Flush();
        for (var i = 0; i < 40; i++)
        {
            using var writing = environment.BeginWrite();
            writing.OpenTree("t").Put([2, (byte)i], Small(i));
            writing.Commit();
        }

        environment.Flush();
        using var reading = environment.BeginRead();
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree("t").Put([3], new byte[20_000]);
            writing.Commit();
        }

        for (var i = 0; i < 40; i++)
        {
            reading.OpenTree("t").TryGet([2, (byte)i], out var value).Should().BeTrue();
            value.SequenceEqual(Small(i)).Should().BeTrue();
        }

        static byte[] Small(int i)
        {
            var bytes = new byte[10_000];
            Array.Fill(bytes, (byte)(i + 1));
            return bytes;
        }
    }

    [Fact]
    public void A_value_that_cannot_be_written_fails_its_transaction_and_no_other()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Manual);
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("t");
            writing.Commit();
        }

        foreach (var bytes in (int[])[20_000, 3 << 20])
        {
            disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name == DataFile.FileName, Voron.IO.DiskError.Failed);
            using var writing = environment.BeginWrite();
            var tree = writing.OpenTree("t");
            var put = () =>
            {
                tree.Put([1], new byte[bytes]);
                writing.Commit();
            };
            put.Should().Throw<StorageAccessException>();
        }

        disk.ClearFaults();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            for (var i = 0; i < Lengths.Length; i++)
                tree.Put([(byte)i], Value(i));
            writing.Commit();
        }

        Check(environment, Lengths.Length);
    }

    /// <summary>One of several pieces fails, whichever thread writes it; the values after it are not acknowledged either.</summary>
    [Theory]
    [InlineData(0, "Failed")]
    [InlineData(1, "Failed")]
    [InlineData(5, "Failed")]
    [InlineData(0, "NoSpace")]
    [InlineData(5, "NoSpace")]
    public void Whichever_piece_fails_the_commit_says_so_and_the_next_transaction_is_whole(int write, string error)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Manual);
        Write(environment, [200], new byte[100]);
        var before = environment.GetStatistics().JournalWrites;
        Fail(disk, write, error);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            tree.Put([201], new byte[2 << 20]);
            tree.Put([202], new byte[20_000]);
            var commit = () => writing.Commit();
            if (error == "NoSpace")
                commit.Should().Throw<StorageFullException>();
            else
                commit.Should().Throw<StorageAccessException>();
        }

        environment.GetStatistics().JournalWrites.Should().Be(before, "no record names a value that was not written");
        Write(environment, [203], new byte[100]);
        Fill(environment);
        Check(environment, Lengths.Length);
        using (var reading = environment.BeginRead())
        {
            reading.OpenTree("t").TryGet([201], out _).Should().BeFalse();
            reading.OpenTree("t").TryGet([202], out _).Should().BeFalse();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Reading_a_value_that_could_not_be_written_reports_the_failed_write_and_no_damage()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Manual);
        Write(environment, [200], new byte[100]);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            var savepoint = writing.CreateSavepoint();
            Fail(disk, 0, "Failed");
            tree.Put([1], new byte[20_000]);
            var read = () => tree.TryGet([1], out _);
            read.Should().Throw<StorageAccessException>().WithMessage("*could not write a value*");

            // Pieces hold values from before the savepoint and after it, so the transaction cannot recover from the failure.
            savepoint.Rollback();
            tree.Put([2], new byte[20_000]);
            var commit = () => writing.Commit();
            commit.Should().Throw<StorageAccessException>().WithMessage("*could not write a value*");
        }

        Fill(environment);
        Check(environment, Lengths.Length);
    }

    /// <summary>Such a value is in no cache, and a touch of its map that the device cannot serve would end the process.</summary>
    [Theory]
    [InlineData(20_000)]
    [InlineData(300_000)]
    public void Values_written_past_the_cache_are_read_and_verified_at_their_first_use_in_the_same_opening(int bytes)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Manual);
        Write(environment, [1], new byte[bytes]);
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("t");
        var read = () => tree.TryGet([1], out _);
        disk.FailNext(call => call.Kind == DiskCallKind.Read && call.Name == DataFile.FileName, Voron.IO.DiskError.Failed);
        read.Should().Throw<StorageAccessException>();
        read().Should().BeTrue("the next read can be served");
    }

    /// <summary>Writes under way have ended when the writer is free again, with and without an explicit rollback.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void No_write_is_under_way_when_the_environment_has_been_closed(bool savepoint)
    {
        var disk = new SimulatedDisk();
        for (var round = 0; round < 10; round++)
        {
            int closed;
            using (var environment = StorageEnvironment.Open(disk, Manual))
            {
                if (round == 0)
                    Fill(environment);
                using (var writing = environment.BeginWrite())
                {
                    var tree = writing.OpenTree("t");
                    Savepoint? inner = savepoint ? writing.CreateSavepoint() : null;
                    tree.Put([150], new byte[(3 << 20) + 77]);
                    inner?.Rollback();
                    tree.Put([151], new byte[900_000]);
                }

                closed = disk.Count(TraceKind.Write);
                TestWait.GiveTimeFor(() => disk.Count(TraceKind.Write) > closed);
                disk.Count(TraceKind.Write).Should().Be(closed);
            }

            disk.OpenFiles.Should().Be(0);
            using var reopened = StorageEnvironment.Open(disk, Manual);
            Check(reopened, Lengths.Length);
        }
    }

    private static void Fail(SimulatedDisk disk, int write, string error)
    {
        var seen = 0;
        disk.FailNext(
            call => call.Kind == DiskCallKind.Write && call.Name == DataFile.FileName && seen++ == write,
            Enum.Parse<Voron.IO.DiskError>(error));
    }

    private static void Fill(StorageEnvironment environment)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 0; i < Lengths.Length; i++)
            tree.Put([(byte)i], Value(i));
        writing.Commit();
    }

    private static void Write(StorageEnvironment environment, byte[] key, byte[] value)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree("t").Put(key, value);
        writing.Commit();
    }

    private static byte[] Value(int index) => SeededBytes.Make(index, Lengths[index]);

    private static void Check(StorageEnvironment environment, int count)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree("t");
        for (var i = 0; i < count; i++)
        {
            tree.TryGet([(byte)i], out var value).Should().BeTrue();
            value.SequenceEqual(Value(i)).Should().BeTrue("value {0} of {1} bytes is intact", i, Lengths[i]);
        }
    }
}
