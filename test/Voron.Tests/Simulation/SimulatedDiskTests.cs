using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.IO;

namespace Voron.Tests.Simulation;

[Quick]
public sealed class SimulatedDiskTests : DiskContract
{
    private readonly SimulatedDisk _disk = new();

    private protected override IDisk Disk => _disk;

    [Fact]
    public void A_full_disk_refuses_only_writes_that_need_new_blocks()
    {
        using var file = _disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        _disk.SpaceLimit = 4 * 4096;
        file.Allocate(0, 3 * 4096);
        Error(() => file.Allocate(0, 5 * 4096)).Should().Be(DiskError.NoSpace);
        Error(() => file.Write(3 * 4096, new byte[8192])).Should().Be(DiskError.NoSpace);
        file.Length.Should().Be(3 * 4096, "a refused call changes nothing");
        file.Write(0, new byte[3 * 4096]);
        file.TryPunchHole(0, 4096).Should().BeTrue();
        _disk.UsedBytes.Should().Be(2 * 4096);
        file.Write(3 * 4096, new byte[8192]);
        Error(() => file.Write(0, [1])).Should().Be(DiskError.NoSpace, "the hole has no block any more");
        _disk.Delete("a");
        _disk.UsedBytes.Should().Be(4 * 4096, "the handle keeps the blocks");
        file.Dispose();
        _disk.UsedBytes.Should().Be(0);
    }

    [Fact]
    public void A_planted_fault_happens_once_or_for_ever()
    {
        using var file = _disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        var writes = 0;
        _disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name == "a" && ++writes == 2, DiskError.Failed);
        file.Write(0, "1"u8);
        Error(() => file.Write(0, "2"u8)).Should().Be(DiskError.Failed);
        file.Write(0, "3"u8);
        _disk.FailNext(call => call.Kind == DiskCallKind.Sync, DiskError.Failed, forever: true);
        Error(file.Sync).Should().Be(DiskError.Failed);
        Error(file.Sync).Should().Be(DiskError.Failed);
        _disk.ClearFaults();
        file.Sync();
        _disk.Count(TraceKind.SyncFailed).Should().Be(2);
    }

    [Fact]
    public unsafe void A_flipped_bit_is_in_the_file_the_map_and_the_images()
    {
        using var file = _disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, new byte[10_000]);
        using var map = file.Map(10_000);
        _disk.FlipBit("a", 9_000, 3);
        ReadAll(file, 9_000, 1).Should().Equal(8);
        map.Address[9_000].Should().Be(8);
        var kept = new CrashImages(_disk).BuildKept(_disk.TraceCount).Contents("a");
        kept[9_000].Should().Be(8);
        kept.Count(b => b != 0).Should().Be(1);
    }

    [Fact]
    public void Maps_can_be_made_to_refuse_extension()
    {
        var disk = new SimulatedDisk { ExtendableMaps = false };
        using var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.SetLength(8192);
        using var map = file.Map(4096);
        map.TryExtend(8192).Should().BeFalse();
        map.Length.Should().Be(4096);
        disk.LiveMaps.Should().Be(1);
        disk.OpenFiles.Should().Be(1);
    }

    [Fact]
    public void A_read_only_disk_refuses_changes_and_makes_no_lock_file()
    {
        _disk.Open("a", DiskOpen.New, DiskAccess.Buffered).Dispose();
        var before = _disk.TraceCount;
        _disk.IsReadOnly = true;
        using var file = _disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered);
        Error(() => file.Write(0, "x"u8)).Should().Be(DiskError.AccessDenied);
        Error(() => _disk.Delete("a")).Should().Be(DiskError.AccessDenied);
        _disk.Lock("a", shared: true).Dispose();
        Error(() => _disk.Lock("lock", shared: true)).Should().Be(DiskError.NotFound);
        _disk.TraceCount.Should().Be(before);
    }
}
