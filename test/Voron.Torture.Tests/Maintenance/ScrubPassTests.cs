using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Maintenance;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Maintenance;
using Voron.Torture.Damage;
using Voron.Transactions;

namespace Voron.Torture.Tests.Maintenance;

/// <summary>The scrubber's pass without its thread: slices of 64 KiB, each with a snapshot of its own.</summary>
public sealed class ScrubPassTests
{
    [Fact]
    public void In_a_store_at_rest_a_pass_counts_what_a_verification_counts()
    {
        using var environment = Open(ScrubTestKit.MakeStore(2_000));
        var report = Run(environment, out var slices);
        report.Should().BeEquivalentTo(environment.Verify());
        report.Problems.Should().BeEmpty();
        slices.Should().BeGreaterThan(20);
    }

    [Fact]
    public void A_bit_of_any_page_in_use_is_found()
    {
        var disk = ScrubTestKit.MakeStore(300, largeBytes: 200_000);
        var random = new Random(7);
        var found = 0;
        for (var round = 0; round < 60; round++)
        {
            using var environment = Open(disk);
            var pages = environment.GetStatistics().PageCount;
            var offset = random.NextInt64(pages * 4096);
            disk.FlipBit(ScrubTestKit.DataFile, offset, round % 8);
            var scrubbed = Run(environment, out _);
            var verified = environment.Verify();
            scrubbed.IsSound.Should().Be(verified.IsSound, $"offset {offset}: {verified}");
            found += scrubbed.IsSound ? 0 : 1;
            disk.FlipBit(ScrubTestKit.DataFile, offset, round % 8);
        }

        found.Should().BeGreaterThan(40, "most pages are in use");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void While_everything_changes_between_slices_a_pass_finds_nothing_and_ends(int seed)
    {
        using var environment = Open(ScrubTestKit.MakeStore(1_000));
        var random = new Random(seed);
        var slices = 0;
        var report = Run(environment, out _, () =>
        {
            slices++.Should().BeLessThan(3_000);
            Change(environment, random, slices);
        });
        report.Problems.Should().BeEmpty($"seed {seed}");
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>A pass may leave out pages that were changed since it began, but never unchanged ones.</summary>
    [Fact]
    public void Damage_is_found_whatever_is_written_meanwhile()
    {
        var disk = ScrubTestKit.MakeStore(2_000);
        using var environment = Open(disk);
        var page = LeafOf(environment, 1_990);
        disk.FlipBit(ScrubTestKit.DataFile, page * 4096 + 3000, 1);
        var random = new Random(1);
        var slices = 0;
        var report = Run(environment, out _, () =>
        {
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.OpenTree(FaultTestKit.TreeName);
                for (var i = 0; i < 20; i++)
                    tree.Put(FaultTestKit.Key(random.Next(1_900)), FaultTestKit.Value(slices, 800));
                writing.CreateTree($"a new tree {slices++}").Put([1], [2]);
                writing.Commit();
            }

            environment.Flush();
        });
        report.Problems.Should().ContainSingle().Which.Should().Contain($"Page {page} ").And.Contain("is damaged");
    }

    /// <summary>A value of 2 GiB takes minutes at the default rate: the snapshot and the closing must not wait for its end.</summary>
    [Fact]
    public void A_value_is_checked_over_many_slices_and_left_at_once_by_a_stopping_pass()
    {
        var disk = ScrubTestKit.MakeStore(10, largeBytes: 8 << 20);
        using var environment = Open(disk);
        using var stop = new CancellationTokenSource();
        int reads = 0, readsAtStop = int.MaxValue;
        ScrubTestKit.OnRead(disk, _ =>
        {
            if (++reads != 100)
                return;
            stop.Cancel();
            readsAtStop = reads;
        });
        var pass = new ScrubPass(environment.Internals.Engine, new ScrubPace(1, new ScrubClock(), stop.Token));
        var slices = 0;
        var run = () =>
        {
            while (!Slice(environment, pass))
                slices++;
        };
        run.Should().Throw<OperationCanceledException>();
        slices.Should().BeGreaterThan(40, "a slice is one chunk at this rate");
        reads.Should().Be(readsAtStop, "nothing more is read");
    }

    /// <summary>A value that is not a large one is one extent with one checksum, but may still have any length.</summary>
    [Fact]
    public void A_stopping_pass_leaves_a_long_extent_at_once()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, LargeValueBytes = 64 << 20 };
        using (var environment = StorageEnvironment.Open(disk, options))
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 16 << 20));
        using var reopened = StorageEnvironment.Open(disk, options);
        using var stop = new CancellationTokenSource();
        int reads = 0, readsAtStop = int.MaxValue;
        ScrubTestKit.OnRead(disk, _ =>
        {
            if (++reads != 50)
                return;
            stop.Cancel();
            readsAtStop = reads;
        });
        var pass = new ScrubPass(reopened.Internals.Engine, new ScrubPace(0, new ScrubClock(), stop.Token));
        var run = () => Slice(reopened, pass);
        run.Should().Throw<OperationCanceledException>();
        reads.Should().Be(readsAtStop);
        disk.ClearFaults();
        reopened.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_page_in_use_that_is_marked_as_free_is_found()
    {
        using var environment = Open(ScrubTestKit.MakeStore(300));
        var page = LeafOf(environment, 150);
        using (var writing = environment.BeginWrite())
        {
            // Does what a writer must never do: clears the bit of a page that a tree owns.
            writing.Body.WritePages.Space.Map.SetFree(page, 1);
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(0), [1]);
            writing.Commit();
        }

        Run(environment, out _).Problems.Should().Contain(problem => problem.Contains($"page {page} is marked as free, but a tree or a map owns it", StringComparison.Ordinal));
    }

    [Fact]
    public void Pages_that_have_a_version_are_not_read_from_the_disk()
    {
        var disk = ScrubTestKit.MakeStore(2_000);
        using var environment = Open(disk);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            for (var i = 0; i < 2_000; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i + 1, 900));
            writing.Commit();
        }

        var read = new HashSet<long>();
        ScrubTestKit.OnRead(disk, call => read.Add(call.Offset / 4096));
        Run(environment, out _).Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        read.Should().NotBeEmpty();
        read.Where(page => environment.Internals.Engine.Versions.Find(page, reading.TransactionId, out _)).Should().BeEmpty();
    }

    private static void Change(StorageEnvironment environment, Random random, int round)
    {
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(random.Next(2) == 0 ? FaultTestKit.TreeName : "mixed");
            for (var i = 0; i < 30; i++)
            {
                var key = FaultTestKit.Key(random.Next(2_000));
                if (random.Next(3) == 0)
                    tree.Delete(key);
                else
                    tree.Put(key, FaultTestKit.Value(i, random.Next(20) == 0 ? random.Next(300_000) : random.Next(2_000)));
            }

            var name = $"tree {random.Next(20)}";
            if (random.Next(3) == 0)
                writing.DeleteTree(name);
            else
                writing.CreateTree(name).Put([(byte)round], new byte[random.Next(5_000)]);
            writing.Commit();
        }

        if (random.Next(3) == 0)
            environment.Flush();
    }

    private static StorageEnvironment Open(IDisk disk) =>
        StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false });

    /// <summary>The directory was looked up in tables that end with the last page, which ended the process.</summary>
    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1L << 20)]
    [InlineData(1L << 40)]
    [InlineData(long.MaxValue)]
    [InlineData(long.MinValue)]
    public void A_directory_of_section_maps_that_is_no_page_is_reported_and_not_followed(long directory)
    {
        var store = new ForgedStore(StoreMaker.Closed().Files);
        MemoryMarshal.Write(store.ChangePage(0)[PageHeader.Size..], directory);
        store.Seal();
        var disk = new ImageDisk(store.Files);
        try
        {
            using var environment = Open(disk);
            environment.Verify().Problems.Should().ContainSingle().Which.Should().Contain("section map").And.Contain($"{directory}");
            Run(environment, out _).Problems.Should().NotBeEmpty();
            environment.Invoking(open => FaultTestKit.Put(open, 1, new byte[1 << 20])).Should().Throw<CorruptionException>();
        }
        finally
        {
            disk.Free();
        }
    }

    private static VerificationReport Run(StorageEnvironment environment, out int slices, Action? between = null)
    {
        var pass = new ScrubPass(environment.Internals.Engine, new ScrubPace(1, new ScrubClock(), CancellationToken.None));
        slices = 1;
        while (!Slice(environment, pass))
        {
            slices++;
            between?.Invoke();
        }

        return pass.Report;
    }

    private static bool Slice(StorageEnvironment environment, ScrubPass pass)
    {
        using var reading = new EngineSnapshot(environment.Internals.Engine);
        return pass.RunSlice(reading.Snapshot);
    }

    private static long LeafOf(StorageEnvironment environment, int key)
    {
        using var reading = environment.BeginRead();
        var cursor = new Voron.Trees.TreeCursor();
        reading.TryOpenTree(FaultTestKit.TreeName, out _).Should().BeTrue();
        Voron.Trees.Catalog.TryFind(reading.Body.Catalog, reading.Body.Pages, "items"u8, out var header).Should().BeTrue();
        unsafe
        {
            cursor.Open(new Voron.Trees.TreeState(header), reading.Body.Pages, canChange: false);
            cursor.SeekExact(FaultTestKit.Key(key)).Should().BeTrue();
            var page = ((long)cursor.Record - (long)environment.Internals.Engine.DataFile.MapAddress) / 4096;
            cursor.Close();
            return page;
        }
    }
}
