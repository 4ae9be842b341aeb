using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Simulation.Disks;

namespace Voron.Tests.Paging;

[Quick]
public sealed unsafe class DataFileTests : IDisposable
{
    private const int PageSize = 4096;

    private readonly MemoryDisk _disk = new(1 << 20);

    public void Dispose() => _disk.Dispose();

    [Fact]
    public void Growing_keeps_the_content_and_keeps_old_maps_until_their_last_use()
    {
        using var file = Open(pages: 4);
        file.File.Write(PageSize, new byte[] { 42 });
        file.EnsureCapacity(3).Should().BeFalse();
        file.CapacityPages.Should().Be(4);

        // Beyond the addresses that the disk has reserved behind the map, the map has to move.
        var old = file.MapAddress;
        file.EnsureCapacity(1000).Should().BeTrue();
        file.CapacityPages.Should().Be(1000);
        file.HasRetiredMaps.Should().BeTrue();
        (file.MapAddress != old).Should().BeTrue();
        old[PageSize].Should().Be(42);
        file.Address(1)[0].Should().Be(42);
        file.Address(999)[PageSize - 1].Should().Be(0);

        file.ReleaseMaps(1_000_000);
        file.HasRetiredMaps.Should().BeTrue("no state has been published since the map moved");
        file.RetireMaps(10);
        file.ReleaseMaps(9);
        file.HasRetiredMaps.Should().BeTrue("a reader uses an older state");
        file.ReleaseMaps(10);
        file.HasRetiredMaps.Should().BeFalse();
    }

    [Fact]
    public void A_sync_after_one_that_failed_on_another_thread_fails_too()
    {
        var disk = new SimulatedDisk();
        var poison = new PoisonState("test");
        var content = disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        content.Allocate(0, 4 * PageSize);
        using var file = new DataFile(content, new RandomId(0, 17), PageSize, new PlannedAddresses(1 << 20), poison);
        disk.FailNext(call => call.Kind == DiskCallKind.Sync, DiskError.Failed, dropsDirty: true);

        // The sync of a commit waits for that of a flush, which fails and has lost the bytes of both.
        EnvironmentPoisonedException? failure = null;
        var flush = new Thread(() => failure = file.Invoking(one => one.Sync()).Should().Throw<EnvironmentPoisonedException>().Which);
        flush.Start();
        flush.Join(TestWait.Limit).Should().BeTrue();
        failure.Should().NotBeNull();
        file.Invoking(one => one.Sync()).Should().Throw<EnvironmentPoisonedException>("the device would report success");
        poison.IsPoisoned.Should().BeTrue();
    }

    [Fact]
    public void A_malformed_page_is_reported_whatever_its_checksum()
    {
        using var file = Open(pages: 8);
        WritePage(file, 3, number: 3, PageKind.Leaf);
        var verifying = () => file.Verify(3);
        verifying.Should().Throw<CorruptionException>().WithMessage("Page 3 *malformed*0 entries*");
    }

    [Fact]
    public void A_page_is_verified_once_and_a_damaged_one_never()
    {
        using var file = Open(pages: 8);
        WritePage(file, 3, number: 3);
        file.IsVerified(3).Should().BeFalse();
        file.Verify(3);
        file.IsVerified(3).Should().BeTrue();
        file.IsVerified(2).Should().BeFalse();
        file.IsVerified(4).Should().BeFalse();

        WritePage(file, 5, number: 5);
        file.File.Write(5 * PageSize + 2000, new byte[] { 1 });
        file.Invoking(damaged => damaged.Verify(5)).Should().Throw<CorruptionException>().WithMessage("Page 5 of*checksum*");
        file.IsVerified(5).Should().BeFalse();
        WritePage(file, 6, number: 7);
        file.Invoking(damaged => damaged.Verify(6)).Should().Throw<CorruptionException>().WithMessage("Page 6 of*its header has page number 7*");
        file.Invoking(damaged => damaged.Verify(8)).Should().Throw<CorruptionException>().WithMessage("*beyond the end*");
    }

    /// <summary>
    /// The thread that grows the file ahead of need checks the capacity first; the writer may have grown the file past it by then.
    /// </summary>
    [Fact]
    public void Growing_ahead_to_less_than_there_is_does_nothing()
    {
        using var file = Open(8);
        file.EnsureCapacity(64);
        file.Invoking(grown => grown.Preallocate(32)).Should().NotThrow();
        file.File.Length.Should().Be(64 * PageSize);
        file.Preallocate(128);
        file.EnsureCapacity(128);
        file.CapacityPages.Should().Be(128);
    }

    /// <summary>The writer gives a page its content as soon as the page has an address: zeros written there would replace it.</summary>
    [Fact]
    public void Zeros_are_written_after_the_pages_that_have_addresses()
    {
        const int Ones = 8 * PageSize;
        var disk = new SimulatedDisk();
        var content = disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        content.Write(0, Enumerable.Repeat((byte)1, Ones).ToArray());
        content.Sync();
        using var file = OpenUnbuffered(disk, content);
        file.WriteAhead(12, static () => true);
        file.WrittenAheadBytes.Should().Be(4 * PageSize);
        CountOnes(content).Should().Be(Ones);

        // The pages that get addresses now have been written; the content of the last one must survive more zeros.
        file.EnsureCapacity(10);
        file.WrittenAheadBytes.Should().Be(2 * PageSize);
        content.Write(9 * PageSize, Enumerable.Repeat((byte)1, PageSize).ToArray());
        file.WriteAhead(16, static () => true);
        file.WrittenAheadBytes.Should().Be(6 * PageSize);
        CountOnes(content).Should().Be(Ones + PageSize);

        // Beyond them, the file has blocks that were never written, which do not count.
        file.EnsureCapacity(32);
        file.WrittenAheadBytes.Should().Be(0);
        file.WriteAhead(33, static () => true);
        file.WrittenAheadBytes.Should().Be(PageSize);
        content.Length.Should().Be(33 * PageSize);
        CountOnes(content).Should().Be(Ones + PageSize);

        file.Truncate(16);
        file.WrittenAheadBytes.Should().Be(0);
        while (file.TryCut())
        {
        }

        content.Length.Should().Be(16 * PageSize);
    }

    /// <summary>Between the two, the writer maps the pages that it has taken; it may write to them a moment later.</summary>
    [Fact]
    public void Zeros_are_written_after_the_pages_that_are_about_to_get_addresses()
    {
        var disk = new SimulatedDisk { ExtendableMaps = false };
        var content = disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        content.Allocate(0, 8 * PageSize);
        using var file = OpenUnbuffered(disk, content);
        disk.FailNext(call => call.Kind == DiskCallKind.Map, DiskError.Failed);
        file.Invoking(grown => grown.EnsureCapacity(16)).Should().Throw<StorageAccessException>();
        file.CapacityPages.Should().Be(8);
        content.Write(8 * PageSize, Enumerable.Repeat((byte)1, 8 * PageSize).ToArray());
        file.WriteAhead(17, static () => true);
        CountOnes(content).Should().Be(8 * PageSize);
        file.WrittenAheadBytes.Should().BePositive();
        file.GiveUpWritten().Should().Be(PageSize);
        while (file.TryCut())
        {
        }

        content.Length.Should().Be(16 * PageSize);
    }

    /// <summary>A commit that makes the file grow must not wait for all zeros.</summary>
    [Fact]
    public void The_file_can_grow_between_two_pieces_of_zeros()
    {
        const int PagesAtOnce = DataFile.ZeroedAtOnce / PageSize;
        var disk = new SimulatedDisk();
        var content = disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        content.Allocate(0, 8 * PageSize);
        using var file = OpenUnbuffered(disk, content);
        var pieces = 0;
        file.WriteAhead(8 + (3 * PagesAtOnce), () =>
        {
            if (pieces++ == 1)
            {
                var growing = new Thread(() => file.EnsureCapacity(8 + (2 * PagesAtOnce)));
                growing.Start();
                growing.Join(TestWait.Limit).Should().BeTrue();
                content.Write((7 + (2 * PagesAtOnce)) * PageSize, Enumerable.Repeat((byte)1, PageSize).ToArray());
            }

            return true;
        });
        pieces.Should().Be(2);
        CountOnes(content).Should().Be(PageSize, "the page had an address before the second piece was written");
        file.WrittenAheadBytes.Should().Be(DataFile.ZeroedAtOnce);
    }

    /// <summary>The writer may have taken all bytes that were written, but not all blocks that were allocated.</summary>
    [Fact]
    public void Blocks_allocated_for_zeros_are_given_up_too()
    {
        const int PagesAtOnce = DataFile.ZeroedAtOnce / PageSize;
        var disk = new SimulatedDisk { ExtendableMaps = false };
        var content = disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        content.Allocate(0, 8 * PageSize);
        using var file = OpenUnbuffered(disk, content);
        file.WriteAhead(8 + (64 * PagesAtOnce), () => file.WrittenAheadBytes == 0);
        file.WrittenAheadBytes.Should().Be(DataFile.ZeroedAtOnce);
        content.Length.Should().BeLessThan(16 * DataFile.ZeroedAtOnce, "a transaction that grows the file waits for an allocation");
        file.EnsureCapacity(8 + PagesAtOnce);
        var unused = content.Length - (8 + PagesAtOnce) * PageSize;
        unused.Should().BePositive();
        file.CutWritten().Should().Be(unused);
        content.Length.Should().Be((8 + PagesAtOnce) * PageSize);
        file.CutWritten().Should().Be(0);

        // Nothing is left of those that the writer takes, even if it cannot map them.
        file.WriteAhead(12 + PagesAtOnce, static () => true);
        disk.FailNext(call => call.Kind == DiskCallKind.Map, DiskError.Failed);
        file.Invoking(grown => grown.EnsureCapacity(12 + PagesAtOnce)).Should().Throw<StorageAccessException>();
        file.GiveUpWritten().Should().Be(0);
        file.WrittenAheadBytes.Should().Be(0);
    }

    private static DataFile OpenUnbuffered(SimulatedDisk disk, DiskFile content) => new(
        content, new RandomId(0, 17), PageSize, new PlannedAddresses(1 << 20), new PoisonState("test"),
        disk.Open("data", DiskOpen.Existing, DiskAccess.Unbuffered));

    private static int CountOnes(DiskFile file)
    {
        var bytes = new byte[file.Length];
        file.Read(0, bytes);
        return bytes.Count(value => value == 1);
    }

    private DataFile Open(int pages)
    {
        var file = _disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        file.Allocate(0, (long)pages * PageSize);
        return new DataFile(file, new RandomId(0, 17), PageSize, new PlannedAddresses(1 << 20), new PoisonState("test"));
    }

    private static void WritePage(DataFile file, long page, long number, PageKind kind = PageKind.SectionMap)
    {
        var bytes = new byte[PageSize];
        fixed (byte* start = bytes)
        {
            ((PageHeader*)start)->PageNumber = number;
            ((PageHeader*)start)->Kind = kind;
            ((PageHeader*)start)->Checksum = file.ComputeChecksum(page, start, PageSize);
        }

        file.File.Write(page * PageSize, MemoryMarshal.AsBytes(bytes.AsSpan()));
    }
}
