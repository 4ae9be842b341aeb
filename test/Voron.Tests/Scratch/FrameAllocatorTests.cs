using System.Runtime.InteropServices;
using Voron.Scratch;

namespace Voron.Tests.Scratch;

public sealed unsafe class FrameAllocatorTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(4096)]
    [InlineData(65536)]
    public void Frames_never_overlap_and_are_aligned(int pageSize)
    {
        var seed = Random.Shared.Next(1_000_000);
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        using var frames = new FrameAllocator(pageSize, long.MaxValue, null);
        var rented = new List<(nint Address, int Pages, byte Mark)>();
        var used = 0L;
        for (var i = 0; i < 8000; i++)
        {
            if (rented.Count == 0 || random.Next(100) < (i / 1000 % 2 == 0 ? 60 : 35))
            {
                var pages = random.Next(4) > 0 ? 1 : random.Next(1, random.Next(10) == 0 ? 200 : 20);
                var frame = frames.RentRun(pages);
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
                    Assert.Fail($"somebody else has written to a frame of {pages} pages");
                frames.ReturnRun((byte*)address, pages);
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
        using var frames = new FrameAllocator(4096, long.MaxValue, null);
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
        var run = frames.RentRun(5);
        frames.ReturnRun(run, 5);
        ((nint)frames.RentRun(7)).Should().Be((nint)run, "five and seven pages share a class");

        var reserved = frames.ReservedBytes;
        var pages = (reserved >> 12) - 8;
        for (var i = 0; i < pages; i++)
            frames.Rent();
        frames.ReservedBytes.Should().Be(reserved, "every page of the chunk can be rented");
        frames.Rent();
        frames.ReservedBytes.Should().Be(2 * reserved);
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
            frames.SpilledBytes.Should().Be(4 << 20);
            frames.ReservedBytes.Should().Be(4 << 20);
        }

        spill.IsDisposed.Should().BeTrue();
    }

    private sealed class FakeSpill : ISpill
    {
        private readonly List<nint> _chunks = [];

        public int Allocations => _chunks.Count;

        public bool IsDisposed { get; private set; }

        public byte* Allocate(int bytes)
        {
            var chunk = NativeMemory.AlignedAlloc((nuint)bytes, 4096);
            _chunks.Add((nint)chunk);
            return (byte*)chunk;
        }

        public void Dispose()
        {
            IsDisposed = true;
            foreach (var chunk in _chunks)
                NativeMemory.AlignedFree((void*)chunk);
        }
    }
}
