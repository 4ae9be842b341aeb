using Voron.IO;
using Voron.Simulation.Harness;

namespace Voron.Tests.IO;

/// <summary>The contract of every disk, whatever implements it.</summary>
public abstract unsafe class DiskContract : IDisposable
{
    private const int Block = 4096;

    private protected abstract IDisk Disk { get; }

    /// <summary>Returns whether a map of a file of that length is extended in place.</summary>
    protected virtual bool ExtendsFrom(int length) => true;

    /// <summary>Whether a file can be truncated while the part before the cut is mapped.</summary>
    protected virtual bool CutsMappedFiles => true;

    public virtual void Dispose() => GC.SuppressFinalize(this);

    [Fact]
    public void Calls_report_missing_files_existing_files_and_bad_names()
    {
        Error(() => Disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered)).Should().Be(DiskError.NotFound);
        Disk.Open("a", DiskOpen.New, DiskAccess.Buffered).Dispose();
        Error(() => Disk.Open("a", DiskOpen.New, DiskAccess.Buffered)).Should().Be(DiskError.AlreadyExists);
        Error(() => Disk.Delete("b")).Should().Be(DiskError.NotFound);
        Error(() => Disk.Rename("b", "c")).Should().Be(DiskError.NotFound);
        FluentActions.Invoking(() => Disk.Open("../a", DiskOpen.New, DiskAccess.Buffered)).Should().Throw<ArgumentException>();
    }

    [Fact]
    public void Names_follow_creation_renaming_and_deletion()
    {
        using (var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered))
            file.Write(0, "one"u8);
        using (var file = Disk.Open("b", DiskOpen.New, DiskAccess.Buffered))
            file.Write(0, "three"u8);
        Disk.SyncDirectory();
        Error(() => Disk.Rename("a", "b")).Should().Be(DiskError.AlreadyExists, "no file is ever replaced");
        Disk.Delete("b");
        Disk.Rename("a", "b");
        Disk.List().Should().Equal(new DiskEntry("b", 3));
        Disk.Delete("b");
        Disk.List().Should().BeEmpty();
    }

    [Fact]
    public void Unbuffered_bytes_come_back_through_every_handle_and_have_to_be_aligned()
    {
        using var buffered = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        buffered.Write(0, Bytes(3 * Block, 1));
        using var file = Disk.Open("a", DiskOpen.Existing, DiskAccess.Unbuffered);
        using var source = new AlignedBuffer(Block, 7);
        file.Write(Block, source.Span);
        buffered.Sync();
        ReadAll(buffered, 0, Block).Should().Equal(Bytes(3 * Block, 1)[..Block]);
        ReadAll(buffered, Block, Block).Should().OnlyContain(b => b == 7);
        ReadAll(file, Block - 1, 3).Should().Equal([Bytes(3 * Block, 1)[Block - 1], 7, 7]);
        FluentActions.Invoking(() => file.Write(100, source.Span)).Should().Throw<ArgumentException>();
    }

    [Fact]
    public void A_deleted_file_lives_on_behind_its_handle()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, "still"u8);
        Disk.Delete("a");
        var read = new byte[5];
        file.Read(0, read);
        read.Should().Equal("still"u8.ToArray());
    }

    [Fact]
    public void Buffered_bytes_come_back_at_any_offset_and_reads_beyond_the_end_are_refused()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        var bytes = Bytes(10_000, 1);
        file.Write(777, bytes);
        file.Length.Should().Be(10_777);
        ReadAll(file, 0, 777).Should().OnlyContain(b => b == 0);
        ReadAll(file, 777, 10_000).Should().Equal(bytes);
        ReadAll(file, 5_000, 3).Should().Equal(bytes[4_223..4_226]);
        Error(() => ReadAll(file, 10_000, 778)).Should().Be(DiskError.EndOfFile);
        file.Read(20_000, []);
        file.Sync();
    }

    [Fact]
    public void Write_through_bytes_come_back_at_any_offset()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.WriteThrough);
        using var buffer = new AlignedBuffer(200 * 1024);
        Bytes(buffer.Length, 2).CopyTo(buffer.Span);
        file.Write(Block, buffer.Span);

        using var read = new AlignedBuffer(buffer.Length);
        file.Read(Block, read.Span);
        read.Span.SequenceEqual(buffer.Span).Should().BeTrue();
        ReadAll(file, Block + 1, 150_000).Should().Equal(buffer.Span.Slice(1, 150_000).ToArray());
        ReadAll(file, Block + buffer.Length - 5, 5).Should().Equal(buffer.Span[^5..].ToArray());
        Error(() => ReadAll(file, Block + buffer.Length - 5, 6)).Should().Be(DiskError.EndOfFile);
    }

    [Fact]
    public void A_write_through_file_with_an_odd_length_is_read_to_its_end()
    {
        using (var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered))
        {
            file.Write(0, Bytes(5_000, 3));
            file.Sync();
        }
        using var through = Disk.Open("a", DiskOpen.Existing, DiskAccess.WriteThrough);
        ReadAll(through, 0, 5_000).Should().Equal(Bytes(5_000, 3));
        using var aligned = new AlignedBuffer(2 * Block);
        through.Read(0, aligned.Span[..5_000]);
        aligned.Span[..5_000].SequenceEqual(Bytes(5_000, 3)).Should().BeTrue();
        ErrorOf(() => through.Read(0, aligned.Span)).Should().Be(DiskError.EndOfFile);

        DiskError? ErrorOf(Action action) => Error(action);
    }

    [Fact]
    public void Unaligned_write_through_is_an_argument_error_on_every_disk()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.WriteThrough);
        using var buffer = new AlignedBuffer(2 * Block);
        FluentActions.Invoking(() => file.Write(512, buffer.Span[..Block])).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => file.Write(0, buffer.Span[..512])).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => file.Write(0, buffer.Span.Slice(1, Block))).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => file.Write(-Block, buffer.Span[..Block])).Should().Throw<ArgumentException>();
        file.Length.Should().Be(0);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(2_500)]
    public void Vectored_blocks_land_one_behind_the_other(int count)
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        using var buffer = new AlignedBuffer(64 * 1024);
        Bytes(buffer.Length, 4).CopyTo(buffer.Span);
        var random = new Random(count);
        var blocks = new IoBlock[count];
        var expected = new List<byte>();
        for (var i = 0; i < count; i++)
        {
            // Empty blocks are legal, alone and in rows.
            var length = i % 5 < 2 ? 0 : random.Next(1, 300);
            var start = random.Next(buffer.Length - length);
            blocks[i] = new IoBlock(buffer.Address + start, (nuint)length);
            expected.AddRange(buffer.Span.Slice(start, length).ToArray());
        }
        file.WriteVectored(100, blocks);
        file.Length.Should().Be(expected.Count == 0 ? 0 : 100 + expected.Count);
        if (expected.Count > 0)
            ReadAll(file, 100, expected.Count).Should().Equal(expected);
    }

    [Fact]
    public void Lengths_are_cut_and_extended_with_zeros()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, Bytes(3 * Block, 5));
        file.SetLength(5_000);
        file.SetLength(4 * Block);
        ReadAll(file, 0, 5_000).Should().Equal(Bytes(3 * Block, 5)[..5_000]);
        ReadAll(file, 5_000, 4 * Block - 5_000).Should().OnlyContain(b => b == 0);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Allocation_keeps_the_content_and_reads_as_zeros(int access)
    {
        using var file = Disk.Open("a", DiskOpen.New, (DiskAccess)access);
        using var buffer = new AlignedBuffer(Block, 7);
        file.Write(0, buffer.Span);
        file.Allocate(0, 64 * Block);
        file.Length.Should().Be(64 * Block);
        ReadAll(file, 0, Block).Should().OnlyContain(b => b == 7);
        ReadAll(file, Block, 63 * Block).Should().OnlyContain(b => b == 0);
        file.Allocate(Block, Block);
        file.Length.Should().Be(64 * Block, "an allocation within a file does not cut it");
        file.Sync();
    }

    [Fact]
    public void A_punched_hole_reads_zeros_in_file_and_map_and_keeps_the_length()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, Bytes(16 * Block, 6));
        using var map = file.Map(16 * Block);
        var punched = file.TryPunchHole(4 * Block, 8 * Block);
        file.Length.Should().Be(16 * Block);
        var expected = Bytes(16 * Block, 6);
        if (punched)
            expected.AsSpan(4 * Block, 8 * Block).Clear();
        ReadAll(file, 0, 16 * Block).Should().Equal(expected);
        new ReadOnlySpan<byte>(map.Address, 16 * Block).SequenceEqual(expected).Should().BeTrue();
    }

    [Theory]
    [InlineData(5_000)]
    [InlineData(64 << 10)]
    public void A_map_shows_writes_and_extends_where_it_is(int length)
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, Bytes(length, 7));
        using var map = file.Map(length);
        var address = (nint)map.Address;
        new ReadOnlySpan<byte>(map.Address, length).SequenceEqual(Bytes(length, 7)).Should().BeTrue();

        file.Write(100, "shown"u8);
        new ReadOnlySpan<byte>(map.Address + 100, 5).SequenceEqual("shown"u8).Should().BeTrue();

        Error(() => map.TryExtend(length + 1)).Should().Be(DiskError.EndOfFile, "a map is never longer than its file");
        file.SetLength(1 << 20);
        file.Write((1 << 20) - 4, "tail"u8);
        map.TryExtend(1 << 20).Should().Be(ExtendsFrom(length));
        using var other = file.Map(1 << 20);
        var newest = ExtendsFrom(length) ? map : other;
        ((nint)map.Address).Should().Be(address);
        map.Length.Should().Be(ExtendsFrom(length) ? 1 << 20 : length);
        newest.Length.Should().Be(1 << 20);
        new ReadOnlySpan<byte>(newest.Address + (1 << 20) - 4, 4).SequenceEqual("tail"u8).Should().BeTrue();
        file.Write(length + 1_000, "late"u8);
        new ReadOnlySpan<byte>(newest.Address + length + 1_000, 4).SequenceEqual("late"u8).Should().BeTrue();
        file.Write(200, "both"u8);
        new ReadOnlySpan<byte>(map.Address + 200, 4).SequenceEqual("both"u8).Should().BeTrue();
        new ReadOnlySpan<byte>(other.Address + 200, 4).SequenceEqual("both"u8).Should().BeTrue();
    }

    [Theory]
    [InlineData(8_192)]
    [InlineData(64 << 10)]
    [InlineData(0)]
    public void A_map_releases_its_tail_before_the_file_is_truncated(int length)
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.SetLength(64 << 10);
        using var map = file.Map(64 << 10);
        file.SetLength(1 << 20);
        map.TryExtend(1 << 20).Should().BeTrue();
        file.Write(0, Bytes(1 << 20, 8));

        map.Shrink(length);
        map.Length.Should().Be(length);
        var isCut = Error(() => file.SetLength(length)) == null;
        isCut.Should().Be(length == 0 || CutsMappedFiles);
        new ReadOnlySpan<byte>(map.Address, length).SequenceEqual(Bytes(1 << 20, 8).AsSpan(0, length)).Should().BeTrue();
        if (isCut)
            file.SetLength(1 << 20);
        file.Length.Should().Be(1 << 20);
        map.TryExtend(1 << 20).Should().BeTrue();
        var expected = Bytes(1 << 20, 8);
        if (isCut)
            expected.AsSpan(length).Clear();
        new ReadOnlySpan<byte>(map.Address, 1 << 20).SequenceEqual(expected).Should().BeTrue();
    }

    [Fact]
    public void Maps_outlive_their_file_and_are_disposed_twice()
    {
        var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, "mapped"u8);
        var map = file.Map(6);
        file.Dispose();
        file.Dispose();
        Disk.Delete("a");
        new ReadOnlySpan<byte>(map.Address, 6).SequenceEqual("mapped"u8).Should().BeTrue();
        map.Dispose();
        map.Dispose();
        FluentActions.Invoking(() => file.Write(0, "x"u8)).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void An_empty_file_maps_to_nothing_and_grows()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        using var map = file.Map(0);
        file.Write(0, "x"u8);
        map.TryExtend(1).Should().BeTrue();
        map.Address[0].Should().Be((byte)'x');
        Error(() => file.Map(2)).Should().Be(DiskError.EndOfFile);
    }

    [Fact]
    public void Only_buffered_files_are_mapped()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.WriteThrough);
        FluentActions.Invoking(() => file.Map(0)).Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void Locks_are_taken_at_once_or_not_at_all()
    {
        Error(() => Disk.Lock("lock", shared: false)).Should().Be(DiskError.NotFound, "only an existing file can be locked");
        Disk.List().Should().BeEmpty();
        Disk.Open("lock", DiskOpen.New, DiskAccess.Buffered).Dispose();
        Disk.Open("other", DiskOpen.New, DiskAccess.Buffered).Dispose();
        var first = Disk.Lock("lock", shared: false);
        Error(() => Disk.Lock("lock", shared: false)).Should().Be(DiskError.Locked);
        Error(() => Disk.Lock("lock", shared: true)).Should().Be(DiskError.Locked);
        Disk.Lock("other", shared: false).Dispose();
        first.Dispose();
        first.Dispose();
        using (Disk.Lock("lock", shared: true))
        using (Disk.Lock("lock", shared: true))
            Error(() => Disk.Lock("lock", shared: false)).Should().Be(DiskError.Locked);
        Disk.Lock("lock", shared: false).Dispose();
        Disk.List().Select(entry => entry.Name).Should().BeEquivalentTo("lock", "other");
    }

    [Fact]
    public void A_lock_goes_with_its_file_and_leaves_the_bytes_alone()
    {
        using var file = Disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        using (Disk.Lock("a", shared: false))
        {
            file.Write(0, "written"u8);
            using (var second = Disk.Open("a", DiskOpen.Existing, DiskAccess.Buffered))
                ReadAll(second, 0, 7).Should().Equal("written"u8.ToArray());
            Disk.Rename("a", "b");
            Error(() => Disk.Lock("b", shared: true)).Should().Be(DiskError.Locked);
            Error(() => Disk.Lock("a", shared: true)).Should().Be(DiskError.NotFound);
            Disk.Open("a", DiskOpen.New, DiskAccess.Buffered).Dispose();
            Disk.Lock("a", shared: false).Dispose();
        }

        Disk.Lock("b", shared: false).Dispose();
    }

    [Fact]
    public void A_temporary_file_leaves_no_name()
    {
        Disk.Open("voron.scratch", DiskOpen.New, DiskAccess.Buffered).Dispose();
        using (var file = Disk.OpenTemporary(DiskAccess.Buffered))
        {
            file.Allocate(0, 3 * Block);
            file.Write(1, "bytes"u8);
            ReadAll(file, 0, 6).Should().Equal([0, .. "bytes"u8.ToArray()]);
            using var second = Disk.OpenTemporary(DiskAccess.Buffered);
            second.Length.Should().Be(0);
        }

        Disk.List().Should().Equal(new DiskEntry("voron.scratch", 0));
    }

    [Fact]
    public void A_temporary_file_may_bypass_the_page_cache()
    {
        using (var file = Disk.OpenTemporary(DiskAccess.Unbuffered))
        {
            file.Access.Should().Be(DiskAccess.Unbuffered);
            file.Allocate(0, 3 * Block);
            using var source = new AlignedBuffer(Block, 7);
            file.Write(Block, source.Span);
            ReadAll(file, Block - 1, 2).Should().Equal(0, 7);
            ReadAll(file, 2 * Block - 1, 2).Should().Equal(7, 0);
            FluentActions.Invoking(() => file.Write(100, source.Span)).Should().Throw<ArgumentException>();
        }

        // On Windows, the name vanishes with the handle.
        Disk.List().Should().BeEmpty();
    }

    private protected static DiskError? Error(Action action)
    {
        try
        {
            action();
            return null;
        }
        catch (DiskException e)
        {
            return e.Error;
        }
    }

    private protected static byte[] Bytes(int length, int seed) => SeededBytes.Make(seed, length);

    private protected static byte[] ReadAll(DiskFile file, long offset, int length)
    {
        var bytes = new byte[length];
        file.Read(offset, bytes);
        return bytes;
    }
}
