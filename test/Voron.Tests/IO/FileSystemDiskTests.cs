using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.IO;
using Voron.IO.Posix;

namespace Voron.Tests.IO;

/// <summary>
/// The disk of this operating system keeps the contract. Alone, because on Windows a map grows in place only if no other thread has taken the
/// addresses behind it meanwhile.
/// </summary>
[Collection(nameof(Alone))]
public sealed unsafe class FileSystemDiskTests : DiskContract
{
    private readonly string _directory = Path.Combine(Path.GetTempPath(), $"voron-io-{Guid.NewGuid():n}");
    private readonly WarningCounter _logger = new();
    private readonly IDisk _disk;

    public FileSystemDiskTests() => _disk = FileSystemDisk.Open(Path.Combine(_directory, "data"), readOnly: false, _logger);

    private protected override IDisk Disk => _disk;

    protected override bool ExtendsFrom(int length) => !OperatingSystem.IsWindows() || length % (64 << 10) == 0;

    protected override bool CutsMappedFiles => !OperatingSystem.IsWindows();

    public override void Dispose()
    {
        _disk.Dispose();
        Directory.Delete(_directory, recursive: true);
        base.Dispose();
    }

    [Fact]
    public void A_link_to_the_directory_names_and_locks_the_same()
    {
        var link = Path.Combine(_directory, "link");
        TestLinks.ToDirectory(link, Path.Combine(_directory, "data"));
        using var other = FileSystemDisk.Open(link, readOnly: false, NullLogger.Instance);
        other.Path.Should().Be(_disk.Path);
        _disk.Open("lock", DiskOpen.New, DiskAccess.Buffered).Dispose();
        using (_disk.Lock("lock", shared: false))
        {
            FluentActions.Invoking(() => other.Lock("lock", shared: false)).Should().Throw<DiskException>()
                .Where(e => e.Error == DiskError.Locked)
                .WithMessage($"*process {Environment.ProcessId}*");
        }
        other.Lock("lock", shared: false).Dispose();
    }

    /// <summary>A file without a name is not in the directory, and nothing is left of it; with a name, it is an ordinary file.</summary>
    [Fact]
    public void A_file_without_a_name_vanishes_unless_it_gets_one()
    {
        Assert.SkipUnless(_disk.HasUnnamedFiles, "The file system does not promise it.");
        _disk.OpenUnnamed().Dispose();
        using var block = new AlignedBuffer(4096, 7);
        using (var file = _disk.OpenUnnamed())
        {
            file.Allocate(0, 8192);
            file.Sync();
            file.Write(4096, block.Span);
            _disk.List().Should().BeEmpty();
            _disk.Open("taken", DiskOpen.New, DiskAccess.Buffered).Dispose();
            var link = () => _disk.Link(file, "taken");
            link.Should().Throw<DiskException>().Where(e => e.Error == DiskError.AlreadyExists);
            _disk.Delete("taken");
            _disk.Link(file, "named");
            _disk.SyncDirectory();
            file.Write(0, block.Span);
        }

        _disk.List().Should().Equal(new DiskEntry("named", 8192));
        using var again = _disk.Open("named", DiskOpen.Existing, DiskAccess.WriteThrough);
        using var read = new AlignedBuffer(8192);
        again.Read(0, read.Span);
        read.Span.ToArray().Should().OnlyContain(b => b == 7);
    }

    [Fact]
    public void An_unbuffered_write_is_seen_in_a_map_beside_buffered_writes_to_its_neighbours()
    {
        Assert.SkipUnless(_disk.MapsSeeUnbufferedWrites, "The file system does not promise it.");
        const int Block = 16 << 10;
        const int Blocks = 64;
        using var buffered = _disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        buffered.Allocate(0, Block * Blocks);
        buffered.Sync();
        using var direct = _disk.Open("a", DiskOpen.Existing, DiskAccess.Unbuffered);
        using var map = buffered.Map(Block * Blocks);
        var stop = false;
        var address = map.Address;

        // Odd blocks are written through the cache, even ones past it, while other reads cover all of them.
        var others = new[]
        {
            new Thread(() =>
            {
                var bytes = new byte[Block];
                for (var i = 1; !Volatile.Read(ref stop); i = (i + 2) % Blocks)
                    buffered.Write(i * Block, bytes);
            }),
            new Thread(() =>
            {
                for (var i = 0; !Volatile.Read(ref stop); i = (i + 4096) % (Block * Blocks))
                    Volatile.Read(ref address[i]);
            }),
        };
        foreach (var other in others)
            other.Start();
        try
        {
            using var source = new AlignedBuffer(Block);
            var read = new byte[Block];
            for (var i = 0; i < SuiteShare.Rounds(2000); i++)
            {
                var block = i * 2 % Blocks;
                source.Span.Fill((byte)(i % 251 + 1));
                direct.Write(block * Block, source.Span);
                new ReadOnlySpan<byte>(address + block * Block, Block).SequenceEqual(source.Span).Should().BeTrue("write {0} is in the map", i);
                buffered.Read(block * Block, read);
                source.Span.SequenceEqual(read).Should().BeTrue("write {0} is in the cache", i);
            }
        }
        finally
        {
            Volatile.Write(ref stop, true);
            foreach (var other in others)
                other.Join();
        }
    }

    [Fact]
    public void A_read_only_disk_changes_nothing()
    {
        FluentActions.Invoking(() => FileSystemDisk.Open(Path.Combine(_directory, "none"), readOnly: true, NullLogger.Instance))
            .Should().Throw<DiskException>().Where(e => e.Error == DiskError.NotFound);

        using (var file = _disk.Open("a", DiskOpen.New, DiskAccess.Buffered))
            file.Write(0, "content"u8);
        using var disk = FileSystemDisk.Open(_disk.Path, readOnly: true, NullLogger.Instance);
        Error(() => disk.Lock("lock", shared: true)).Should().Be(DiskError.NotFound);
        disk.List().Should().Equal(new DiskEntry("a", 7));

        using var only = disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered);
        ReadAll(only, 0, 7).Should().Equal("content"u8.ToArray());
        using var map = only.Map(7);
        map.Address[0].Should().Be((byte)'c');
        Error(() => only.Write(0, "x"u8)).Should().Be(DiskError.AccessDenied);
        Error(() => only.SetLength(1)).Should().Be(DiskError.AccessDenied);
        Error(() => only.Allocate(0, 100)).Should().Be(DiskError.AccessDenied);
        Error(() => only.TryPunchHole(0, 1)).Should().Be(DiskError.AccessDenied);
        Error(() => disk.Open("b", DiskOpen.New, DiskAccess.Buffered)).Should().Be(DiskError.AccessDenied);
        Error(() => disk.Delete("a")).Should().Be(DiskError.AccessDenied);
        Error(() => disk.Rename("a", "b")).Should().Be(DiskError.AccessDenied);
        Error(disk.SyncDirectory).Should().Be(DiskError.AccessDenied);

        using (disk.Lock("a", shared: true))
            Error(() => _disk.Lock("a", shared: false)).Should().Be(DiskError.Locked);
    }

    [Fact]
    public void A_file_in_the_place_of_the_directory_is_refused()
    {
        var path = Path.Combine(_directory, "file");
        File.WriteAllText(path, "");
        FluentActions.Invoking(() => FileSystemDisk.Open(path, readOnly: true, NullLogger.Instance)).Should().Throw<DiskException>();
        FluentActions.Invoking(() => FileSystemDisk.Open(path, readOnly: false, NullLogger.Instance)).Should().Throw<DiskException>();
    }

    [Fact]
    public void Memory_file_systems_warn_once_and_write_all_the_same()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "wants /dev/shm of Linux");
        var path = $"/dev/shm/voron-io-{Guid.NewGuid():n}";
        var logger = new WarningCounter();
        try
        {
            using var disk = FileSystemDisk.Open(path, readOnly: false, logger);
            disk.Open("buffered", DiskOpen.New, DiskAccess.Buffered).Dispose();
            logger.Warnings.Should().BeEmpty("buffered files ask for nothing special");
            using var buffer = new AlignedBuffer(4096, 3);
            for (var i = 0; i < 3; i++)
            {
                using var file = disk.Open($"{i}", DiskOpen.New, DiskAccess.WriteThrough);
                file.Write(0, buffer.Span);
                file.Sync();
                ReadAll(file, 1, 4095).Should().OnlyContain(b => b == 3);
            }
            disk.IsUnbuffered.Should().BeFalse();
            logger.Warnings.Should().ContainSingle().Which.Should().Contain(path);
        }
        finally
        {
            Directory.Delete(path, recursive: true);
        }
    }

    [Fact]
    public void Steady_transfers_allocate_no_managed_memory()
    {
        using var journal = _disk.Open("journal", DiskOpen.New, DiskAccess.WriteThrough);
        using var data = _disk.Open("data", DiskOpen.New, DiskAccess.Buffered);
        using var buffer = new AlignedBuffer(8 * 4096, 1);
        var blocks = new IoBlock[] { new(buffer.Address, 4096), new(buffer.Address + 8192, 8192) };
        Transfer();
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < 20; i++)
                Transfer();
        }).Should().Be(0);

        void Transfer()
        {
            journal.Write(0, buffer.Span);
            journal.Read(0, buffer.Span);
            journal.Read(1, buffer.Span[..100]);
            data.Write(5, buffer.Span);
            data.WriteVectored(4096, blocks);
            data.Read(3, buffer.Span);
            data.Sync();
        }
    }

    [Fact]
    public void Allocated_and_punched_blocks_are_seen_by_the_file_system()
    {
        using var file = _disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Allocate(0, 1 << 20);
        file.Sync();
        using var through = _disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough);
        using var buffer = new AlignedBuffer(1 << 20, 5);
        through.Write(0, buffer.Span);
        using var map = file.Map(1 << 20);
        map.Address[(1 << 20) - 1].Should().Be(5);
    }

    [Theory]
    [InlineData(28, (int)DiskError.NoSpace)]
    [InlineData(13, (int)DiskError.AccessDenied)]
    [InlineData(30, (int)DiskError.AccessDenied)]
    [InlineData(2, (int)DiskError.NotFound)]
    [InlineData(17, (int)DiskError.AlreadyExists)]
    [InlineData(5, (int)DiskError.Failed)]
    public void Error_numbers_have_meanings(int errno, int error)
    {
        var exception = Errno.ToException("write", "place", errno);
        ((int)exception.Error).Should().Be(error);
        exception.NativeError.Should().Be(errno);
        exception.Message.Should().Contain("write").And.Contain("place");
        Errno.ToDiskError(Errno.Quota).Should().Be(DiskError.NoSpace);
        Errno.ToDiskError(Errno.NotSupported).Should().Be(DiskError.NotSupported);
    }

    [Fact]
    public void Network_file_systems_are_known_and_local_ones_are_not_taken_for_them()
    {
        FileSystemKind.OfLinuxType(0x6969).NetworkName.Should().Be("NFS");
        FileSystemKind.OfLinuxType(0xFF534D42).NetworkName.Should().Be("CIFS");
        FileSystemKind.OfLinuxType(0x01021997).NetworkName.Should().Be("9p");
        FileSystemKind.OfLinuxType(0xEF53).Should().Be(
            new FileSystemKind(null, false, LocksWrites: true) { WritesBack = true, NamesLate = true }, "that is ext4");
        FileSystemKind.OfLinuxType(0x01021994).Should().Be(new FileSystemKind(null, true), "that is tmpfs");
    }

    private sealed class WarningCounter : ILogger
    {
        public List<string> Warnings { get; } = [];

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (logLevel >= LogLevel.Warning)
                Warnings.Add(formatter(state, exception));
        }
    }
}
