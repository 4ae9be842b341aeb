using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Memory;
using Voron.Simulation.Sorting;
using Voron.Sorting;

namespace Voron.Tests.Sorting;

/// <summary>Every failure is an exception that says what has failed, and leaves nothing behind.</summary>
public sealed class EntrySorterFailureTests
{
    private const int Entries = 5_000;
    private static readonly SortOptions Small = new() { MemoryBytes = BulkLoadOptions.MinMemoryBytes, UsesPool = false };

    private readonly int _seed = TestSeed.Choose();

    [Theory]
    [InlineData(DiskError.Failed)]
    [InlineData(DiskError.NoSpace)]
    [InlineData(DiskError.AccessDenied)]
    internal void Every_call_to_the_disk_may_fail(DiskError error)
    {
        var failures = 0;
        for (var call = 0; ; call++)
        {
            var calls = 0;
            var disk = new SimulatedDisk();
            disk.FailNext(_ => calls++ == call, error);
            using var place = new SortPlace(Small, disk);
            var failure = Record.Exception(() => Sort(place));
            if (calls <= call)
            {
                failure.Should().BeNull();
                break;
            }

            // A hole that cannot be punched is no reason to fail.
            if (failure == null)
            {
                disk.Count(TraceKind.Punch).Should().BeGreaterThan(0);
            }
            else
            {
                failures++;
                if (error == DiskError.NoSpace && failure is StorageFullException)
                    failure.Message.Should().Contain("no space for its spill file");
                else
                    failure.Should().BeOfType<StorageAccessException>().Which.Message.Should().Contain("spill file");
                Record.Exception(() => place.Sorter.Complete()).Should().NotBeNull("a sort that has failed does not continue");
            }

            place.DisposeAndCheck();
        }

        failures.Should().BeGreaterThan(50);
    }

    [Fact]
    public void A_full_disk_of_any_size_is_reported()
    {
        var isDone = false;
        for (var space = 0L; !isDone; space += 350_000)
        {
            var disk = new SimulatedDisk { SpaceLimit = space };
            using var place = new SortPlace(Small with { UsesPool = true }, disk);
            var failure = Record.Exception(() => Sort(place));
            if (failure == null)
                isDone = true;
            else
                failure.Should().BeOfType<StorageFullException>();
            place.DisposeAndCheck();
        }
    }

    [Fact]
    public void A_flipped_bit_of_a_block_is_detected()
    {
        var random = new Random(_seed);
        var detected = 0;
        for (var round = 0; round < 40; round++)
        {
            using var place = new SortPlace(Small);
            var model = place.Fill(random, KeyKind.Random, Entries, valueLength: 150, isCompressible: round % 2 == 0);
            var length = place.Sorter.SpilledBytes;
            place.Disk.FlipBit(NamedSpillDisk.SpillName, random.NextInt64(length), random.Next(8));
            var failure = Record.Exception(() => model.Check(place.Sorter.Complete()));
            if (failure is CorruptionException)
                detected++;
            else
                failure.Should().BeNull("the bit is in the padding of a block");
            place.DisposeAndCheck();
        }

        detected.Should().BeGreaterThan(30);
    }

    [Fact]
    public void A_block_in_the_place_of_another_is_detected()
    {
        const int BlockBytes = 16 << 10;
        using var place = new SortPlace(Small);
        var model = place.Fill(new Random(_seed), KeyKind.Random, Entries, valueLength: 150);
        var blocks = new byte[2][];
        using (var file = place.Disk.Open(NamedSpillDisk.SpillName, DiskOpen.Existing, DiskAccess.Buffered))
        {
            for (var i = 0; i < blocks.Length; i++)
                file.Read(i * BlockBytes, blocks[i] = new byte[BlockBytes]);
            for (var i = 0; i < blocks.Length; i++)
                file.Write(i * BlockBytes, blocks[1 - i]);
        }

        Assert.Throws<CorruptionException>(() => model.Check(place.Sorter.Complete())).Message.Should().Contain("checksum");
        place.DisposeAndCheck();
    }

    [Fact]
    public void A_cut_file_is_detected()
    {
        var random = new Random(_seed);
        for (var round = 0; round < 20; round++)
        {
            using var place = new SortPlace(Small);
            var model = place.Fill(random, KeyKind.Random, Entries, valueLength: 150);
            using (var file = place.Disk.Open(NamedSpillDisk.SpillName, DiskOpen.Existing, DiskAccess.Buffered))
                file.SetLength(random.NextInt64(place.Sorter.SpilledBytes - 4096));
            var failure = Assert.Throws<CorruptionException>(() => model.Check(place.Sorter.Complete()));
            failure.Message.Should().Contain("spill file");
            place.DisposeAndCheck();
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_sort_is_cancelled_in_every_state(bool usesPool)
    {
        for (var point = 0; ; point += 1_009)
        {
            using var source = new CancellationTokenSource();
            using var place = new SortPlace(Small with { Cancellation = source.Token, UsesPool = usesPool });
            var passed = 0;
            var failure = Record.Exception(() => Sort(place, () =>
            {
                if (passed++ == point)
                    source.Cancel();
            }));
            if (passed <= point)
            {
                failure.Should().BeNull();
                break;
            }

            failure.Should().BeAssignableTo<OperationCanceledException>();
            place.DisposeAndCheck();
        }
    }

    [Fact]
    public void A_sort_is_disposed_in_every_state_while_other_threads_work_for_it()
    {
        for (var point = 0; ; point += 503)
        {
            using var place = new SortPlace(Small with { UsesPool = true });
            var passed = 0;
            var failure = Record.Exception(() => Sort(place, () =>
            {
                if (passed++ == point)
                    place.DisposeAndCheck();
            }));
            if (passed <= point)
            {
                failure.Should().BeNull();
                break;
            }

            failure.Should().BeOfType<ObjectDisposedException>();
        }
    }

    [Fact]
    public void Every_allocation_may_fail()
    {
        var failures = 0;
        for (var allocation = 0; ; allocation++)
        {
            var watch = new MemoryWatch();
            watch.FailAt(allocation, forEver: false);
            Exception? failure;
            using (var place = new SortPlace(Small))
            {
                using (new WatchedThread(watch))
                    failure = Record.Exception(() => Sort(place));
                place.DisposeAndCheck();
            }

            watch.Leaked().Should().BeNull();
            if (watch.Refused == 0)
                break;
            failure.Should().BeOfType<OutOfMemoryException>();
            failures++;
        }

        failures.Should().BeGreaterThan(30);
    }

    [Fact]
    public void A_failure_on_another_thread_is_thrown_by_a_call()
    {
        var disk = new SimulatedDisk();
        disk.FailNext(call => call.Kind == DiskCallKind.Write, DiskError.Failed, forever: true);
        using var place = new SortPlace(Small with { UsesPool = true }, disk);
        var failure = Assert.Throws<StorageAccessException>(() => place.Fill(new Random(_seed), KeyKind.Random, 10 * Entries, valueLength: 150));
        Assert.Throws<StorageAccessException>(() => place.Sorter.Add([1], [])).Message.Should().Be(failure.Message);
        Assert.Throws<StorageAccessException>(() => place.Sorter.Complete()).Message.Should().Be(failure.Message);
        place.DisposeAndCheck();
    }

    private void Sort(SortPlace place, Action? atEntry = null)
    {
        var maker = new EntryMaker(new Random(_seed), KeyKind.Random, maxKeyBytes: 100);
        var model = new SortModel(DuplicateKeys.LastWins);
        for (var i = 0; i < Entries; i++)
        {
            atEntry?.Invoke();
            var (key, value) = (maker.NextKey(), maker.NextValue(i % 40 == 0 ? 5_000 : 150, isCompressible: i % 3 == 0));
            place.Sorter.Add(key, value);
            model.Add(key, value);
        }

        atEntry?.Invoke();
        model.Check(place.Sorter.Complete(), _ => atEntry?.Invoke());
    }
}
