using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Memory;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Opening;

/// <summary>An opening that fails releases everything that it has acquired by then. Alone, because the memory is that of the process.</summary>
[Collection(nameof(Alone))]
[Quick]
public sealed class FailedOpeningTests
{
    /// <summary>Half a gigabyte of address space stayed reserved when the length of the data file could not be read.</summary>
    [Fact]
    public void An_opening_that_cannot_read_a_length_keeps_no_memory()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, new StorageOptions()))
            Put(environment, 0, 10);
        var memory = GuardedMemory.Current!;
        var failed = 0;
        while (FailsAtLength(disk, failed, memory))
            failed++;
        failed.Should().BeGreaterThan(3, "the length of the data file alone is read more often than that");
        using var opened = StorageEnvironment.Open(disk, new StorageOptions());
        Count(opened).Should().Be(10);
    }

    /// <summary>The files that had been made stayed, and the message was a bare ENODEV.</summary>
    [Fact]
    public void Where_files_cannot_be_mapped_nothing_is_created_and_the_message_says_so()
    {
        var disk = new SimulatedDisk();
        disk.FailNext(call => call.Kind == DiskCallKind.Map, DiskError.NotSupported, forever: true);
        var open = () => StorageEnvironment.Open(disk, new StorageOptions());
        open.Should().Throw<StorageAccessException>().WithMessage("*FUSE*another file system*");
        disk.List().Should().BeEmpty();
        disk.ClearFaults();
        open().Dispose();
        disk.FailNext(call => call.Kind == DiskCallKind.Map, DiskError.NotSupported, forever: true);
        open.Should().Throw<StorageAccessException>().WithMessage("*FUSE*another file system*");
        disk.ClearFaults();
        open().Dispose();
    }

    private static bool FailsAtLength(SimulatedDisk disk, int index, GuardedMemory memory)
    {
        var before = memory.Taken;
        var left = index;
        disk.FailNext(call => call.Kind == DiskCallKind.Length && left-- == 0, DiskError.Failed);
        StorageEnvironment? opened = null;
        var failure = Record.Exception(() => opened = StorageEnvironment.Open(disk, new StorageOptions()));
        disk.ClearFaults();
        if (failure == null)
        {
            opened!.Dispose();
            return false;
        }

        failure.Should().BeOfType<StorageAccessException>();
        disk.OpenFiles.Should().Be(0);
        TestWait.Until(() => !memory.HasAny(memory.Taken, before), $"call {index} for a length failed, and no environment is open");
        return true;
    }
}
