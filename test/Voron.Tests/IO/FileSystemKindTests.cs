using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.IO;
using Voron.IO.Posix;
using Voron.Tests.Faults;

namespace Voron.Tests.IO;

/// <summary>Refusals, warnings and requests to the system that depend on the kind of the file system.</summary>
public sealed class FileSystemKindTests
{
    [Theory]
    [InlineData(0x0BD00BD0, "Lustre")]
    [InlineData(0x47504653, "GPFS")]
    [InlineData(0x19830326, "BeeGFS")]
    [InlineData(0x6969, "NFS")]
    public void File_systems_that_other_machines_write_to_are_refused(uint type, string name)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "judges the file systems of Linux and macOS");
        using var directory = new TemporaryDirectory();
        var open = () => Open(directory.Path, type, new ListLogger(), PosixCalls.OfSystem);
        open.Should().Throw<DiskException>().WithMessage($"*{name}*").Which.Error.Should().Be(DiskError.NotSupported);
        Directory.GetFileSystemEntries(directory.Path).Should().BeEmpty();
    }

    [Theory]
    [InlineData(0x65735546, "FUSE")]
    [InlineData(0x7461636F, "OCFS2")]
    [InlineData(0x01161970, "GFS2")]
    [InlineData(0x2FC12FC1, "ZFS")]
    [InlineData(0xCA451A4E, "bcachefs")]
    public void File_systems_that_promise_less_are_warned_of_once(uint type, string name)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "judges the file systems of Linux and macOS");
        using var directory = new TemporaryDirectory();
        var logger = new ListLogger();
        using var environment = StorageEnvironment.Open(Open(directory.Path, type, logger, PosixCalls.OfSystem), FaultTestKit.Options(logger));
        FaultTestKit.Put(environment, 1, [1]);
        logger.Warnings.Should().ContainSingle().Which.Should().Contain(name).And.Contain(directory.Path);
    }

    [Fact]
    public void On_btrfs_every_new_file_is_marked_before_its_first_byte_and_one_that_is_not_is_warned_of()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "judges the file systems of Linux and macOS");
        using var directory = new TemporaryDirectory();
        var logger = new ListLogger();
        var calls = new MarkingCalls();
        var path = Path.Combine(directory.Path, "new");
        Directory.CreateDirectory(path);
        using (var disk = PosixDisk.Open(path, false, [path], logger, new() { Calls = calls, Kind = FileSystemKind.OfLinuxType(0x9123683E) }))
        {
            calls.Marked.Should().Be(1, "files created in the directory inherit the mark");
            using (var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered))
                file.Allocate(0, 4096);
            calls.Marked.Should().Be(2);
            using (disk.OpenTemporary(DiskAccess.Buffered))
                calls.Marked.Should().Be(3);
            disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered).Dispose();
            logger.Warnings.Should().BeEmpty();
            calls.Unmarked = true;
            disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered).Dispose();
            disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered).Dispose();
        }

        logger.Warnings.Should().ContainSingle().Which.Should().Contain("btrfs");
    }

    [Theory]
    [InlineData(22, true)]
    [InlineData(25, true)]
    [InlineData(95, true)]
    [InlineData(38, true)]
    [InlineData(5, false)]
    [InlineData(4, false)]
    [InlineData(28, false)]
    public void On_macOS_only_a_full_sync_that_is_not_known_is_made_do_without(int errno, bool fallsBack)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "judges the file systems of Linux and macOS");
        using var directory = new TemporaryDirectory();
        using var handle = File.OpenHandle(Path.Combine(directory.Path, "a"), FileMode.CreateNew, FileAccess.ReadWrite);
        var calls = new MacCalls { FullSyncError = errno };
        calls.TrySyncOfMac(handle, out var isWeaker).Should().Be(fallsBack);
        isWeaker.Should().Be(fallsBack);
        calls.Syncs.Should().Be(fallsBack ? 1 : 0, "a sync that stops at the device's cache must not hide the error of the full one");
        if (!fallsBack)
            Marshal.GetLastPInvokeError().Should().Be(errno);
        calls.FullSyncError = 0;
        calls.TrySyncOfMac(handle, out isWeaker).Should().BeTrue();
        isWeaker.Should().BeFalse();
    }

    [Fact]
    public void A_sync_that_reaches_less_is_warned_of_once_and_an_interrupted_one_is_repeated()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "judges the file systems of Linux and macOS");
        using var directory = new TemporaryDirectory();
        var logger = new ListLogger();
        var calls = new MacCalls { IsMac = true, FullSyncError = 22 };
        using var disk = PosixDisk.Open(directory.Path, false, [], logger, new() { Calls = calls });
        using var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Sync();
        file.Sync();
        logger.Warnings.Should().ContainSingle().Which.Should().Contain("cache");
        calls.FullSyncError = 4;
        calls.Interruptions = 3;
        file.Sync();
        calls.Interruptions.Should().Be(0);
        calls.FullSyncError = 5;
        var sync = file.Sync;
        sync.Should().Throw<DiskException>().Which.NativeError.Should().Be(5);
    }

    /// <summary>A file that is mounted from elsewhere would be judged by the directory's file system, and is therefore refused.</summary>
    [Fact]
    public void A_file_that_is_mounted_from_elsewhere_is_refused()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "judges the file systems of Linux");
        using var directory = new TemporaryDirectory();
        using (var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
            FaultTestKit.Put(environment, 1, [1]);
        var data = Path.Combine(directory.Path, "voron.data");
        var elsewhere = $"/dev/shm/voron-{Guid.NewGuid():n}";
        File.Copy(data, elsewhere);
        try
        {
            using var mount = System.Diagnostics.Process.Start("mount", ["--bind", elsewhere, data]);
            mount.WaitForExit();
            if (mount.ExitCode != 0)
                return;
            try
            {
                var open = () => StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
                open.Should().Throw<StorageAccessException>().WithMessage("*voron.data*mounted*");
            }
            finally
            {
                using var unmount = System.Diagnostics.Process.Start("umount", [data]);
                unmount.WaitForExit();
            }
        }
        finally
        {
            File.Delete(elsewhere);
        }

        using var reopened = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 1).Should().Equal(1);
    }

    private static PosixDisk Open(string path, uint type, ListLogger logger, PosixCalls calls) =>
        PosixDisk.Open(path, false, [], logger, new() { Calls = calls, Kind = FileSystemKind.OfLinuxType(type) });

    private sealed class MarkingCalls : PosixCalls
    {
        public int Marked { get; private set; }

        public bool Unmarked { get; set; }

        public override bool IsMarkedInPlace(SafeFileHandle handle) => !Unmarked;

        public override bool TryMarkInPlace(SafeFileHandle handle)
        {
            Marked++;
            return true;
        }
    }

    private sealed class MacCalls : PosixCalls
    {
        public bool IsMac { get; init; }

        public int FullSyncError { get; set; }

        public int Interruptions { get; set; }

        public int Syncs { get; private set; }

        public override int FullSync(SafeFileHandle handle)
        {
            if (FullSyncError == 4 && Interruptions > 0 && --Interruptions == 0)
                return 0;
            Marshal.SetLastPInvokeError(FullSyncError);
            return FullSyncError == 0 ? 0 : -1;
        }

        public override int Sync(SafeFileHandle handle)
        {
            Syncs++;
            return 0;
        }

        public override bool TrySync(SafeFileHandle handle, bool metadata, out bool isWeaker) =>
            IsMac ? TrySyncOfMac(handle, out isWeaker) : base.TrySync(handle, metadata, out isWeaker);
    }
}
