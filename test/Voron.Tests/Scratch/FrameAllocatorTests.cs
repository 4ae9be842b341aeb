using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Scratch;

namespace Voron.Tests.Scratch;

public sealed unsafe class FrameAllocatorTests
{
    [Theory]
    [InlineData(4096)]
    [InlineData(65536)]
    public void Frames_never_overlap_and_are_aligned(int pageSize)
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        using var frames = new FrameAllocator(pageSize, long.MaxValue, null);
        var rented = new List<(nint Address, int Pages, byte Mark)>();
        var used = 0L;
        for (var i = 0; i < 8000; i++)
        {
            if (rented.Count == 0 || random.Next(100) < (i / 1000 % 2 == 0 ? 60 : 35))
            {
                var pages = random.Next(4) > 0 ? 1 : random.Next(1, random.Next(10) == 0 ? 200 : 20);
                var frame = frames.RentExtent(pages);
                ((long)frame % 4096).Should().Be(0);
                var mark = (byte)random.Next(256);
                new Span<byte>(frame, pages * pageSize).Fill(mark);
                rented.Add(((nint)frame, pages, mark));
                used += (long)pages * pageSize;
            }
            else
            {
                var at = random.Next(rented.Count);
                var (address, pages, mark) = rented[at];
                if (new ReadOnlySpan<byte>((void*)address, pages * pageSize).IndexOfAnyExcept(mark) >= 0)
                    Assert.Fail($"another thread has written to a frame of {pages} pages");
                frames.ReturnExtent((byte*)address, pages);
                rented[at] = rented[^1];
                rented.RemoveAt(rented.Count - 1);
                used -= (long)pages * pageSize;
            }

            frames.UsedBytes.Should().Be(used);
        }

        frames.ReservedBytes.Should().BeGreaterThanOrEqualTo(used);
    }

    [Fact]
    public void The_warmest_frame_is_given_out_first_and_nothing_is_reserved_for_it()
    {
        using var frames = new FrameAllocator(4096, long.MaxValue, null) { Parks = false };
        var first = frames.Rent();
        var second = frames.Rent();
        var reserved = frames.ReservedBytes;
        frames.Return(first);
        frames.Return(second);
        ((nint)frames.Rent()).Should().Be((nint)second);
        ((nint)frames.Rent()).Should().Be((nint)first);
        frames.ReservedBytes.Should().Be(reserved);
    }

    [Fact]
    public void Runs_of_one_class_are_used_again_and_the_rest_of_a_chunk_is_not_lost()
    {
        using var frames = new FrameAllocator(4096, long.MaxValue, null);
        var run = frames.RentExtent(5);
        frames.ReturnExtent(run, 5);
        ((nint)frames.RentExtent(7)).Should().Be((nint)run, "five and seven pages share a class");

        var pages = (frames.ChunkBytes >> 12) - 8;
        for (var i = 0; i < pages; i++)
            frames.Rent();
        frames.ReservedBytes.Should().Be(frames.ChunkBytes, "every page of the chunk can be rented");
        frames.Rent();
        frames.ReservedBytes.Should().Be(2 * frames.ChunkBytes);
    }

    [Fact]
    public void The_first_chunk_takes_memory_in_pieces_as_far_as_the_limit_allows()
    {
        const int Piece = 256 << 10;
        using var frames = new FrameAllocator(4096, 1 << 20, null);
        frames.Rent();
        frames.ReservedBytes.Should().Be(Piece);
        for (var page = 1; page <= Piece / 4096; page++)
            frames.Rent();
        frames.ReservedBytes.Should().Be(2 * Piece);
        var run = frames.RentExtent(128);
        new Span<byte>(run, 128 * 4096).Fill(1);
        frames.ReservedBytes.Should().BeInRange(Piece + (128 * 4096), frames.ChunkBytes);

        // A large extent has taken what the limit allows: the rest of the chunk stays without memory.
        var spill = new FakeSpill();
        using var limited = new FrameAllocator(4096, 1 << 20, spill);
        limited.Rent();
        limited.RentExtent(160);
        for (var page = 0; page < 200; page++)
            *limited.Rent() = 1;
        limited.ReservedBytes.Should().BeLessThanOrEqualTo(1 << 20);
        limited.SpilledBytes.Should().BeGreaterThan(0);
    }

    [Fact]
    public void Beyond_the_limit_frames_come_from_the_spill()
    {
        var spill = new FakeSpill();
        using (var frames = new FrameAllocator(4096, 4 << 20, spill))
        {
            for (var i = 0; i < 1025; i++)
                *(long*)frames.Rent() = i;
            spill.Allocations.Should().Be(1);
            frames.SpilledBytes.Should().Be(frames.ChunkBytes);
            frames.ReservedBytes.Should().Be(4 << 20);
        }

        spill.IsDisposed.Should().BeTrue();
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(65536)]
    public void Whole_free_chunks_go_back_and_what_is_in_use_stays_as_it_is(int pageSize)
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var spill = new FakeSpill();
        using var frames = new FrameAllocator(pageSize, 48 << 20, spill);
        var rented = new List<(nint Address, int Pages, byte Mark)>();
        for (var round = 0; round < 8; round++)
        {
            while (frames.UsedBytes < 80 << 20)
            {
                var pages = random.Next(3) > 0 ? 1 : random.Next(2, 20);
                var frame = frames.RentExtent(pages);
                var mark = (byte)random.Next(1, 256);
                new Span<byte>(frame, pages * pageSize).Fill(mark);
                rented.Add(((nint)frame, pages, mark));
            }

            frames.ChunkTotalBytes.Should().BeGreaterThan(70 << 20);
            frames.SpilledBytes.Should().BeGreaterThan(16 << 20);

            // Returns mostly neighbours, so that chunks become free; but some frames stay.
            var keep = random.Next(40);
            for (var i = rented.Count - 1; i >= 0; i--)
            {
                if (i % 2000 < keep)
                    continue;
                frames.ReturnExtent((byte*)rented[i].Address, rented[i].Pages);
                rented.RemoveAt(i);
            }

            var trim = frames.BeginTrim();

            // The writer continues meanwhile.
            var between = frames.RentExtent(3);
            new Span<byte>(between, 3 * pageSize).Fill(77);
            rented.Add(((nint)between, 3, 77));
            trim.Run(frames.ChunkTotalBytes - frames.UsedBytes);
            frames.EndTrim(trim);
            trim.Emptied.Count.Should().BeGreaterThan(0);
            (frames.ReservedBytes + frames.SpilledBytes).Should().Be(frames.ChunkTotalBytes).And.BeLessThan(70 << 20);
            foreach (var (address, pages, mark) in rented)
            {
                if (new ReadOnlySpan<byte>((void*)address, pages * pageSize).IndexOfAnyExcept(mark) >= 0)
                    Assert.Fail("a frame that is in use was returned");
            }
        }

        spill.FreeCount.Should().BeGreaterThan(0);
        foreach (var (address, pages, _) in rented)
            frames.ReturnExtent((byte*)address, pages);
        var last = frames.BeginTrim();
        last.Run(long.MaxValue);
        frames.EndTrim(last);
        frames.ChunkTotalBytes.Should().BeLessThanOrEqualTo(frames.ChunkBytes, "only the chunk that frames are being cut from is not free");
        frames.UsedBytes.Should().Be(0);
    }

    /// <summary>When memory has run out, a trim that needed some halfway through would lose every free frame.</summary>
    [Fact]
    public void A_trim_that_has_begun_asks_for_no_managed_memory()
    {
        var asked = new List<long>();
        for (var round = 0; round < 5; round++)
        {
            using var frames = new FrameAllocator(4096, long.MaxValue, null) { Parks = false };
            var rented = new List<nint>();
            while (frames.ChunkTotalBytes < 8 * frames.ChunkBytes)
                rented.Add((nint)frames.Rent());
            foreach (var frame in rented)
                frames.Return((byte*)frame);
            var trim = frames.BeginTrim();
            var before = GC.GetAllocatedBytesForCurrentThread();
            trim.Run(4 * frames.ChunkBytes);
            frames.EndTrim(trim);
            asked.Add(GC.GetAllocatedBytesForCurrentThread() - before);
            trim.Emptied.Count.Should().Be(4);
        }

        asked.Min().Should().Be(0, "the runtime, which compiles the code in some round, allocates nothing in the others");
    }

    [Fact]
    public void Large_extents_beyond_the_limit_come_from_the_spill_too()
    {
        const int pages = 600;
        var spill = new FakeSpill();
        var account = new MemoryAccount();
        using (var frames = new FrameAllocator(4096, 4 << 20, spill, account))
        {
            var extents = new List<nint>();
            for (var i = 0; i < 4; i++)
            {
                var extent = frames.RentExtent(pages);
                new Span<byte>(extent, pages * 4096).Fill((byte)i);
                extents.Add((nint)extent);
            }

            frames.ReservedBytes.Should().Be(pages * 4096).And.Be(account.Bytes, "a second one does not fit into 4 MiB");
            frames.SpilledBytes.Should().Be(3 * pages * 4096);
            spill.Extents.Should().Be(3);
            for (var i = 0; i < 4; i++)
            {
                new ReadOnlySpan<byte>((void*)extents[i], pages * 4096).IndexOfAnyExcept((byte)i).Should().Be(-1);
                frames.ReturnExtent((byte*)extents[i], pages);
            }

            (frames.ReservedBytes, frames.SpilledBytes, frames.UsedBytes, spill.Extents).Should().Be((0, 0, 0, 0));
            frames.Rent();
        }

        account.Bytes.Should().Be(0);
    }

    /// <summary>Chunks that are kept ready are memory too: without a bound, a small limit would be exceeded by four of them.</summary>
    [Fact]
    public void Chunks_that_are_made_ahead_count_against_the_limit()
    {
        var account = new MemoryAccount();
        using (var frames = new FrameAllocator(4096, 12 << 20, new FakeSpill(), account))
        {
            for (var i = 0; i < 40 << 8; i++)
            {
                *(long*)frames.Rent() = i;

                // The chunks are made on another thread, of which there is room for twelve.
                if (i % 256 == 0 && i < 20 << 8)
                    TestWait.GiveTimeFor(() => account.PeakBytes > 12 << 20);
            }

            frames.SpilledBytes.Should().Be(28 << 20);
            account.PeakBytes.Should().Be(12 << 20);
        }

        TestWait.Until(() => account.Bytes == 0);
    }

    private sealed class FakeSpill : ISpill
    {
        private readonly List<nint> _chunks = [];
        private readonly Stack<nint> _free = [];
        private readonly HashSet<nint> _extents = [];

        public int Extents => _extents.Count;

        public int Allocations => _chunks.Count;

        public int FreeCount => _free.Count;

        public bool IsDisposed { get; private set; }

        public byte* Allocate(int bytes)
        {
            if (_free.TryPop(out var free))
                return (byte*)free;
            var chunk = NativeMemory.AlignedAlloc((nuint)bytes, 4096);
            _chunks.Add((nint)chunk);
            return (byte*)chunk;
        }

        public void Free(byte* chunk) => _free.Push((nint)chunk);

        public byte* AllocateExtent(long bytes)
        {
            var extent = (byte*)NativeMemory.AlignedAlloc((nuint)bytes, 4096);
            _extents.Add((nint)extent);
            return extent;
        }

        public bool TryFreeExtent(byte* extent)
        {
            if (!_extents.Remove((nint)extent))
                return false;
            NativeMemory.AlignedFree(extent);
            return true;
        }

        public void Dispose()
        {
            IsDisposed = true;
            foreach (var chunk in _chunks)
                NativeMemory.AlignedFree((void*)chunk);
        }
    }
}
