using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Tests.IO;

[Quick]
public sealed unsafe class BlockMemoryTests
{
    private const int MiB = 1 << 20;

    [Fact]
    public void Blocks_beyond_the_limit_lie_in_files_that_vanish_with_them()
    {
        var disk = new SimulatedDisk();
        using var files = new TemporaryFiles(disk);
        using var account = new MemoryAccount();
        var memory = new BlockMemory(4 * MiB, files, account);
        var first = memory.Allocate(3 * MiB, 4096);
        first.IsSpilled.Should().BeFalse();
        var second = memory.Allocate(2 * MiB, 4096);
        second.IsSpilled.Should().BeTrue();
        var third = memory.Allocate(1 * MiB, 0);
        third.IsSpilled.Should().BeFalse("it fits");
        account.Bytes.Should().Be(4 * MiB);
        disk.OpenFiles.Should().Be(1);
        disk.List().Should().BeEmpty("the file has no name");
        foreach (var block in new[] { first, second, third })
        {
            ((nuint)block.Address % (block == third ? 8u : 4096u)).Should().Be(0);
            new Span<byte>(block.Address, (int)block.Bytes).Fill(7);
            block.Dispose();
            block.Dispose();
        }

        account.Bytes.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
        using var again = memory.Allocate(4 * MiB, 4096);
        again.IsSpilled.Should().BeFalse("all of the memory is free again");
    }

    [Fact]
    public void Small_blocks_are_never_worth_a_file()
    {
        using var files = new TemporaryFiles(new SimulatedDisk());
        var memory = new BlockMemory(0, files, null);
        using var small = memory.Allocate(BlockMemory.SmallBytes, 4096);
        using var large = memory.Allocate(BlockMemory.SmallBytes + 1, 4096);
        (small.IsSpilled, large.IsSpilled).Should().Be((false, true));
    }

    [Fact]
    public void A_disk_without_room_is_reported_and_nothing_is_left()
    {
        ShouldBeReported<StorageFullException>(DiskError.NoSpace);
        ShouldBeReported<StorageAccessException>(DiskError.AccessDenied);
    }

    private static void ShouldBeReported<T>(DiskError error)
        where T : VoronException
    {
        var disk = new SimulatedDisk();
        using var files = new TemporaryFiles(disk);
        using var account = new MemoryAccount();
        var memory = new BlockMemory(0, files, account);
        foreach (var kind in new[] { DiskCallKind.Create, DiskCallKind.Allocate })
        {
            disk.FailNext(call => call.Kind == kind, error);
            FluentActions.Invoking(() => memory.Allocate(MiB, 4096)).Should().Throw<T>().WithMessage("*records*");
            disk.OpenFiles.Should().Be(0);
            account.Bytes.Should().Be(0);
        }

        memory.Allocate(MiB, 4096).Dispose();
    }
}
