using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Win32.SafeHandles;
using Voron.IO;
using Voron.IO.Posix;

namespace Voron.Tests.IO;

/// <summary>Where the system has no call that allocates blocks, a file grows by writing.</summary>
public sealed class AllocationByWritingTests : IDisposable
{
    private const int Block = 4096;

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    /// <summary>Allocation read existing bytes and wrote them back, and so undid the flusher's writes in between.</summary>
    [Fact]
    public unsafe void Nothing_within_the_length_of_the_file_is_written()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "The calls are those of POSIX systems.");
        var calls = new CallsWithoutAllocation();
        using var disk = PosixDisk.Open(_directory.Path, false, [], NullLogger.Instance, new() { Calls = calls });
        using var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Allocate(0, 4 * Block);
        calls.Writes.Should().BePositive();
        calls.Writes = 0;
        file.Allocate(Block, 2 * Block);
        calls.Writes.Should().Be(0);

        var bytes = new byte[4 * Block];
        Array.Fill(bytes, (byte)7);
        file.Write(0, bytes);
        file.Allocate(3 * Block, 3 * Block);
        file.Length.Should().Be(6 * Block);
        var read = new byte[6 * Block];
        file.Read(0, read);
        read.AsSpan(0, 4 * Block).ToArray().Should().OnlyContain(b => b == 7);
        read.AsSpan(4 * Block).ToArray().Should().OnlyContain(b => b == 0);
    }

    private sealed unsafe class CallsWithoutAllocation : PosixCalls
    {
        private const int NotSupported = 95;

        public int Writes { get; set; }

        public override int Allocate(SafeFileHandle handle, int mode, long offset, long length)
        {
            Marshal.SetLastPInvokeError(NotSupported);
            return -1;
        }

        public override nint Write(SafeFileHandle handle, byte* buffer, nuint length, long offset)
        {
            Writes++;
            return base.Write(handle, buffer, length, offset);
        }
    }
}
