using Microsoft.Win32.SafeHandles;
using Voron.IO;
using Voron.IO.Posix;
using Voron.IO.Windows;

namespace Voron.Tests.IO;

/// <summary>
/// The reaction of a Windows file to each answer of its operating system. The tests give the answers themselves, on top of a file of the
/// system that they run on, because Wine gives few of them.
/// </summary>
public sealed unsafe class WindowsFileTests : IDisposable
{
    private const int Block = 4096;
    private const int NotSupported = 50;
    private const int MoreData = 234;

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_write_through_write_is_flushed_once_before_it_returns()
    {
        var calls = new Calls();
        using var file = Open("a", DiskAccess.WriteThrough, calls);
        using var buffer = new AlignedBuffer(4 * Block, 3);
        file.Write(0, buffer.Span);
        calls.Flushes.Should().Be(1);
        file.WriteVectored(4 * Block, [new(buffer.Address, Block), new(buffer.Address, 2 * Block), new(buffer.Address, Block)]);
        calls.Flushes.Should().Be(2);
        file.Length.Should().Be(8 * Block);

        calls.FlushFailure = new IOException("the device is gone");
        FluentActions.Invoking(() => file.Write(0, buffer.Span)).Should().Throw<DiskException>().WithMessage("*the device is gone*");
    }

    [Theory]
    [InlineData(DiskAccess.Buffered)]
    [InlineData(DiskAccess.Unbuffered)]
    internal void Other_writes_are_not_flushed(DiskAccess access)
    {
        var calls = new Calls();
        using var file = Open("a", access, calls);
        using var buffer = new AlignedBuffer(Block, 3);
        file.Write(0, buffer.Span);
        calls.Flushes.Should().Be(0);
        file.Sync();
        calls.Flushes.Should().Be(1);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(NotSupported)]
    [InlineData(87)]
    [InlineData(120)]
    [InlineData(1224)]
    public void A_file_system_that_cannot_punch_says_so_and_nothing_has_changed(int error)
    {
        var bytes = Bytes(16 * Block);
        foreach (var failing in new[] { WindowsFile.SetSparse, WindowsFile.SetZeroData })
        {
            var calls = new Calls { Failing = failing, Error = error };
            using var file = Open($"{failing}", DiskAccess.Buffered, calls);
            file.Write(0, bytes);
            file.TryPunchHole(Block, 4 * Block).Should().BeFalse();
            var read = new byte[bytes.Length];
            file.Read(0, read);
            read.Should().Equal(bytes);
        }
    }

    [Fact]
    public void A_failure_to_punch_or_to_list_ranges_is_reported()
    {
        var calls = new Calls { Failing = WindowsFile.SetZeroData, Error = 112 };
        using var file = Open("a", DiskAccess.Buffered, calls);
        file.SetLength(16 * Block);
        FluentActions.Invoking(() => file.TryPunchHole(0, Block)).Should().Throw<DiskException>().Where(e => e.Error == DiskError.NoSpace);
        calls.Failing = WindowsFile.QueryAllocatedRanges;
        calls.Error = 21;
        FluentActions.Invoking(() => file.Allocate(0, Block)).Should().Throw<DiskException>().Where(e => e.Error == DiskError.Failed);
        calls.Error = MoreData;
        FluentActions.Invoking(() => file.Allocate(0, Block)).Should().Throw<DiskException>("it names none, and says that there are more");
    }

    [Fact]
    public void Punched_ranges_read_as_zeros_and_have_blocks_again_once_allocated()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "asks Linux which blocks a file has");
        const int Stretch = 16 * Block;
        const int Stretches = 200;
        var calls = new Calls();
        using var file = Open("a", DiskAccess.Buffered, calls);
        file.Allocate(0, Stretch * Stretches);
        var bytes = Bytes(Stretch * Stretches);
        file.Write(0, bytes);
        file.Sync();

        // Makes more holes than one call names.
        for (var i = 1; i < Stretches; i += 2)
        {
            file.TryPunchHole(i * Stretch, Stretch).Should().BeTrue();
            bytes.AsSpan(i * Stretch, Stretch).Clear();
        }

        calls.Holes(file.Length).Should().Be(Stretches / 2, "the file system has made these holes");
        file.Allocate(3 * Stretch + Block, 2 * Stretch);
        calls.Holes(file.Length).Should().BeGreaterThan(Stretches / 2 - 3);
        file.Allocate(0, Stretch * Stretches);
        calls.Holes(file.Length).Should().Be(0);
        ReadAll(file).Should().Equal(bytes);

        // A sparse file that grows gets no blocks of its own accord.
        file.Allocate(Stretch * Stretches, 5 * Stretch);
        file.Length.Should().Be(Stretch * (Stretches + 5));
        calls.Holes(file.Length).Should().Be(0);
        ReadAll(file).Should().Equal([.. bytes, .. new byte[5 * Stretch]]);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(NotSupported)]
    [InlineData(120)]
    public void A_file_system_that_punches_and_does_not_name_its_ranges_gets_them_written(int error)
    {
        var calls = new Calls { Failing = WindowsFile.QueryAllocatedRanges, Error = error };
        using var file = Open("a", DiskAccess.Buffered, calls);
        var bytes = Bytes(64 * Block);
        file.Write(0, bytes);
        file.TryPunchHole(8 * Block, 16 * Block).Should().BeTrue();
        if (OperatingSystem.IsLinux())
            bytes.AsSpan(8 * Block, 16 * Block).Clear();

        file.Allocate(4 * Block, 32 * Block);
        file.Allocate(64 * Block, 32 * Block);
        ReadAll(file).Should().Equal([.. bytes, .. new byte[32 * Block]]);
        if (OperatingSystem.IsLinux())
            calls.Holes(file.Length).Should().Be(0);
    }

    [Fact]
    public void A_hole_may_reach_behind_the_end_and_does_not_move_it()
    {
        var calls = new Calls();
        using var file = Open("a", DiskAccess.Buffered, calls);
        file.SetLength(4 * Block);
        file.TryPunchHole(8 * Block, Block).Should().BeTrue();
        file.TryPunchHole(2 * Block, 100 * Block).Should().BeTrue();
        file.Length.Should().Be(4 * Block);
        calls.Zeroed.Should().Equal((2 * Block, 4 * Block));
    }

    private WindowsFile Open(string name, DiskAccess access, Calls calls)
    {
        var path = Path.Combine(_directory, name);
        var handle = File.OpenHandle(path, FileMode.CreateNew, FileAccess.ReadWrite, FileShare.ReadWrite);
        calls.Handle = handle;
        return new WindowsFile(handle, path, access, readOnly: false, calls);
    }

    private static byte[] Bytes(int length)
    {
        var bytes = new byte[length];
        new Random(length).NextBytes(bytes);
        return bytes;
    }

    private static byte[] ReadAll(WindowsFile file)
    {
        var bytes = new byte[file.Length];
        file.Read(0, bytes);
        return bytes;
    }

    /// <summary>A file system with sparse files, built on that of Linux; on other systems holes are only recorded.</summary>
    private sealed class Calls : WindowsCalls
    {
        private const int SeekData = 3;
        private const int SeekHole = 4;

        public SafeFileHandle? Handle { get; set; }

        public uint Failing { get; set; }

        public int Error { get; set; }

        public int Flushes { get; private set; }

        public Exception? FlushFailure { get; set; }

        public List<(long Start, long End)> Zeroed { get; } = [];

        public override bool IsSparse(SafeFileHandle handle) => false;

        public override void Flush(SafeFileHandle handle)
        {
            Flushes++;
            if (FlushFailure is { } failure)
                throw failure;
            base.Flush(handle);
        }

        public override int Control(SafeFileHandle handle, uint code, ReadOnlySpan<long> input, Span<long> output, out int returnedBytes)
        {
            returnedBytes = 0;
            if (code == Failing)
                return Error;
            switch (code)
            {
                case WindowsFile.SetSparse:
                    return 0;
                case WindowsFile.SetZeroData:
                    Zeroed.Add((input[0], input[1]));
                    if (OperatingSystem.IsLinux())
                        Libc.Allocate(handle, Platform.PunchHole, input[0], input[1] - input[0]).Should().Be(0);
                    return 0;
                case WindowsFile.QueryAllocatedRanges:
                    return Query(input[0], input[0] + input[1], output, out returnedBytes);
                default:
                    return NotSupported;
            }
        }

        public int Holes(long end)
        {
            var holes = 0;
            for (var at = Libc.Seek(Handle!, 0, SeekHole); at >= 0 && at < end; at = Libc.Seek(Handle!, at, SeekHole))
            {
                holes++;
                at = Libc.Seek(Handle!, at, SeekData);
                if (at < 0)
                    break;
            }

            return holes;
        }

        private int Query(long start, long end, Span<long> output, out int returnedBytes)
        {
            returnedBytes = 0;
            var count = 0;
            for (var at = Libc.Seek(Handle!, start, SeekData); at >= 0 && at < end; at = Libc.Seek(Handle!, at, SeekData))
            {
                if (count == output.Length)
                    return MoreData;
                var hole = Math.Min(Libc.Seek(Handle!, at, SeekHole), end);
                output[count++] = at;
                output[count++] = hole - at;
                returnedBytes = count * sizeof(long);
                at = hole;
            }

            return 0;
        }
    }
}
