using System.Security.Cryptography;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;

namespace Voron.Tests.Recovery;

/// <summary>Recovery stays within the memory that the options allow, for read-only openings too.</summary>
public sealed class RecoveryMemoryTests(ITestOutputHelper output)
{
    private const int Values = 150;
    private const int ValueBytes = 100_000;

    private static StorageOptions Options(bool readOnly) => new()
    {
        ReadOnly = readOnly,
        BackgroundFlush = false,
        LargeValueBytes = 1 << 20,
        ScratchMemoryBytes = 4 << 20,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 1 << 20,
    };

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Replayed_pages_beyond_the_limit_go_to_a_temporary_file(bool readOnly)
    {
        using var directory = new TestDirectory();
        var environment = StorageEnvironment.Open(directory, Options(readOnly: false));
        for (var i = 0; i < Values; i++)
        {
            using var writing = environment.BeginWrite();
            writing.CreateTree("t").Put([(byte)i], Bytes(i));
            writing.Commit();
        }

        // Leaves the files as a kill does: nothing is flushed.
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();
        var before = Names(directory);

        using (var again = StorageEnvironment.Open(directory, Options(readOnly)))
        {
            var statistics = again.GetStatistics();
            statistics.ScratchBytes.Should().BeGreaterThan(Values * ValueBytes);
            statistics.SpilledBytes.Should().BeGreaterThan(0);
            statistics.ScratchReservedBytes.Should().BeLessThan(8 << 20);
            using var reading = again.BeginRead();
            var tree = reading.OpenTree("t");
            for (var i = 0; i < Values; i++)
            {
                tree.TryGet([(byte)i], out var value).Should().BeTrue();
                value.SequenceEqual(Bytes(i)).Should().BeTrue();
            }

            if (readOnly)
                Names(directory).Should().Equal(before, "a read-only opening creates nothing in the directory");
        }

        Directory.GetFiles(System.IO.Path.GetTempPath(), $"voron-{Environment.ProcessId}-*.tmp").Should().BeEmpty();
    }

    /// <summary>
    /// Recovery kept a window and a descriptor for each file: a store written under a limit could not be opened under the same limit.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void One_window_is_alive_during_the_recovery_of_many_live_journal_files(bool readOnly)
    {
        var disk = LeaveUnflushed();
        disk.IsReadOnly = readOnly;
        var windows = new WindowWatch();
        var openFiles = 0;
        disk.FailNext(_ => (openFiles = Math.Max(openFiles, disk.OpenFiles)) < 0, DiskError.Failed, forever: true);
        StorageEnvironment opened;
        using (windows.Watch())
            opened = StorageEnvironment.Open(disk, Options(readOnly));
        disk.ClearFaults();
        using (opened)
        {
            opened.Recovery.ReplayedRecords.Should().BeGreaterThanOrEqualTo(Values);
            windows.Most.Should().Be(1);
            windows.Now.Should().Be(0, "recovery is over");
            windows.Taken.Should().BeLessThan(10, "a window is used for one file after the other");
            openFiles.Should().BeLessThan(12);
        }
    }

    /// <summary>
    /// Whichever allocation fails, the opening throws one of the engine's exceptions, which says what to do, and changes nothing.
    /// </summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void An_opening_that_finds_no_memory_says_so_and_changes_nothing(bool readOnly, bool forEver)
    {
        var disk = LeaveUnflushed();
        disk.IsReadOnly = readOnly;
        var before = ContentsOf(disk);
        var kinds = new SortedDictionary<string, int>(StringComparer.Ordinal);
        for (var refused = 0L; ; refused += SuiteShare.Step(3))
        {
            var watch = new MemoryWatch();
            watch.FailAt(refused, forEver);
            StorageEnvironment? opened = null;
            VoronException? failure = null;
            EngineMemory.Watch = watch;
            try
            {
                opened = StorageEnvironment.Open(disk, Options(readOnly));
            }
            catch (VoronException e)
            {
                failure = e;
            }
            finally
            {
                EngineMemory.Watch = null;
            }

            var kind = failure?.GetType().Name ?? "opened";
            kinds[kind] = kinds.GetValueOrDefault(kind) + 1;
            if (failure is StorageMemoryException memory)
            {
                memory.Message.Should().Contain(disk.Path).And.Contain("for lack of memory").And.Contain(nameof(StorageOptions.ScratchMemoryBytes));
                memory.InnerException.Should().BeAssignableTo<OutOfMemoryException>();
            }

            if (failure != null)
            {
                watch.Refused.Should().BePositive();
                watch.Leaked().Should().BeNull();
                ContentsOf(disk).Should().BeEquivalentTo(before, "nothing is changed by an opening that fails");
                continue;
            }

            // Memory is available again: a store that opened although an allocation was refused is as good as any other.
            using (opened)
                Count(opened!).Should().Be(Values);
            if (watch.Refused == 0)
                break;
            if (!readOnly)
            {
                disk = LeaveUnflushed();
                before = ContentsOf(disk);
            }
        }

        output.WriteLine(string.Join(", ", kinds.Select(kind => $"{kind.Key}: {kind.Value}")));
        kinds[nameof(StorageMemoryException)].Should().BeGreaterThan(5);
    }

    /// <summary>Each free page has a version until the next flush, but needs no place in its list.</summary>
    [Fact]
    public void Freed_pages_are_not_in_the_room_that_the_journal_keeps_for_a_flush()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false });
        for (var i = 0; i < 4; i++)
        {
            using var writing = environment.BeginWrite();
            writing.CreateTree("t").Put([(byte)i], new byte[8 << 20]);
            writing.Commit();
        }

        environment.Flush();
        using (var writing = environment.BeginWrite())
        {
            for (var i = 0; i < 4; i++)
                writing.OpenTree("t").Delete([(byte)i]);
            writing.Commit();
        }

        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("t").Put([9], [9]);
            writing.Commit();
        }

        environment.Internals.Engine.Versions.ChainCount.Should().BeGreaterThan(8_000);
        environment.Internals.Engine.Journal!.Reserve.ListBytes.Should().BeLessThan(100_000);
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Savepoints join, pop and refill versions: the count must keep matching the pages that a flush finds.</summary>
    [Fact]
    public void The_room_that_is_kept_for_a_flush_is_that_of_its_pages()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        for (var round = 0; round < 5; round++)
        {
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < 300; i++)
                {
                    var savepoint = writing.CreateSavepoint();
                    tree.Put(BitConverter.GetBytes(i * 7 % 300), new byte[500]);
                    if (i % 3 == 0)
                        savepoint.Rollback();
                    savepoint.Dispose();
                    if (i % 10 == 0)
                        tree.Delete(BitConverter.GetBytes(i));
                }

                writing.Commit();
            }

            var counted = environment.Internals.Engine.Versions.MaxPagesToFlush;
            var flushed = environment.Flush()!.Value;
            counted.Should().BeInRange(flushed.Pages, flushed.Pages + 20);
            environment.Internals.Engine.Versions.MaxPagesToFlush.Should().Be(0);
        }
    }

    // Leaves the files as a kill does: nothing is flushed.
    private static SimulatedDisk LeaveUnflushed()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options(readOnly: false));
        for (var i = 0; i < Values; i++)
        {
            using var writing = environment.BeginWrite();
            writing.CreateTree("t").Put([(byte)i], Bytes(i));
            writing.Commit();
        }

        environment.Internals.Engine.JournalFiles!.LiveCount.Should().BeGreaterThan(10);
        environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        environment.Dispose();
        return disk;
    }

    private static Dictionary<string, string> ContentsOf(SimulatedDisk disk) => disk.List().ToDictionary(
        entry => entry.Name, entry => Convert.ToHexString(SHA256.HashData(disk.Contents(entry.Name))));

    private static long Count(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.OpenTree("t").Count;
    }

    private static byte[] Bytes(int seed) => SeededBytes.Make(seed, ValueBytes);

    private static string[] Names(string directory) => Directory.GetFiles(directory).Order(StringComparer.Ordinal).ToArray();
}
