using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Win32.SafeHandles;
using Voron.IO;
using Voron.IO.Posix;

namespace Voron.Tests.IO;

/// <summary>A write-back without a sync, by the call that only Linux has and only some file systems heed.</summary>
public sealed class WriteBackTests : IDisposable
{
    private const uint Ext4 = 0xEF53;
    private const uint Zfs = 0x2FC12FC1;
    private const int Interrupted = 4;
    private const int Failed = 5;
    private const int NoSystemCall = 38;
    private const int NotSupported = 95;

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(Ext4, 0, true)]
    [InlineData(Ext4, NoSystemCall, false)]
    [InlineData(Zfs, 0, false)]
    public void A_range_is_written_back_where_the_call_is_known_to_do_so(uint type, int error, bool expected)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the call is one of Linux");
        var calls = new Calls(Interrupted, error);
        WriteBack(type, calls).Should().Be(expected);
        calls.Ranges.Should().Equal(type == Zfs ? [] : [(4096, 8192), (4096, 8192)]);
    }

    /// <summary>A device may report an operation that it does not support, and the system reports that once.</summary>
    [Theory]
    [InlineData(Failed)]
    [InlineData(NotSupported)]
    public void An_error_of_the_device_is_no_missing_call(int error)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the call is one of Linux");
        var writeBack = () => WriteBack(Ext4, new Calls(error));
        writeBack.Should().Throw<DiskException>().WithMessage("*write back*");
    }

    private bool WriteBack(uint type, Calls calls)
    {
        var options = new PosixDiskOptions { Calls = calls, Kind = FileSystemKind.OfLinuxType(type) };
        using var disk = PosixDisk.Open(_directory.Path, false, [], NullLogger.Instance, options);
        using var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, new byte[16384]);
        return file.TryWriteBack(4096, 8192);
    }

    /// <summary>Fails with some errors in turn, 0 for none.</summary>
    private sealed class Calls(params int[] errors) : PosixCalls
    {
        public List<(long Offset, long Length)> Ranges { get; } = [];

        public override int WriteBack(SafeFileHandle handle, long offset, long length)
        {
            Ranges.Add((offset, length));
            if (errors.ElementAtOrDefault(Ranges.Count - 1) is not 0 and var error)
            {
                Marshal.SetLastPInvokeError(error);
                return -1;
            }

            return base.WriteBack(handle, offset, length);
        }
    }
}
