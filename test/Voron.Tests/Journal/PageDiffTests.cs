using System.Numerics;
using Voron.Journal;

namespace Voron.Tests.Journal;

public unsafe class PageDiffTests
{
    private const int Unjournaled = 32;

    [Theory]
    [InlineData(4096, 11)]
    [InlineData(8192, 12)]
    [InlineData(16384, 13)]
    [InlineData(32768, 14)]
    [InlineData(65536, 15)]
    public void A_diff_makes_the_new_page_of_any_mixture(int pageSize, int seed)
    {
        var random = new Random(seed);
        using var page = new GuardedBuffer(pageSize);
        using var previous = new GuardedBuffer(pageSize);
        using var replayed = new GuardedBuffer(pageSize);
        using var target = new GuardedBuffer(PageDiff.MaxLength(pageSize));

        for (var round = 0; round < SuiteShare.Rounds(1200); round++)
        {
            Fill(random, previous.Span);
            previous.Span.CopyTo(page.Span);
            var dirty = Edit(random, page.Span);
            PageDiff.FindUnmarked(page.Pointer, previous.Pointer, pageSize, dirty).Should().Be(-1);

            var end = PageDiff.Write(target.Pointer, page.Pointer, previous.Pointer, pageSize, dirty);
            var runs = new ReadOnlySpan<byte>(target.Pointer, (int)(end - target.Pointer));
            runs.Length.Should().BeLessThanOrEqualTo(PageDiff.MaxLength(pageSize) - ByteRunWriter.Slack);
            target.IsIntact.Should().BeTrue("seed {0}, round {1}", seed, round);

            for (var mixture = 0; mixture < 3; mixture++)
            {
                Mix(random, previous.Span, page.Span, replayed.Span, mixture);
                var head = replayed.Span[..Unjournaled].ToArray();
                PageDiff.TryApply(runs, replayed.Pointer, pageSize).Should().BeTrue();
                AssertSame(replayed.Span[Unjournaled..], page.Span[Unjournaled..], seed, round);
                AssertSame(replayed.Span[..Unjournaled], head, seed, round);
            }

            replayed.IsIntact.Should().BeTrue();
        }
    }

    [Theory]
    [InlineData(4096, 21)]
    [InlineData(16384, 22)]
    [InlineData(65536, 23)]
    public void A_new_page_comes_back_from_zeros(int pageSize, int seed)
    {
        var random = new Random(seed);
        using var page = new GuardedBuffer(pageSize);
        using var replayed = new GuardedBuffer(pageSize);
        using var target = new GuardedBuffer(PageDiff.MaxLength(pageSize));

        for (var round = 0; round < SuiteShare.Rounds(1000); round++)
        {
            Fill(random, page.Span);
            var end = PageDiff.Write(target.Pointer, page.Pointer, null, pageSize, 0);
            var runs = new ReadOnlySpan<byte>(target.Pointer, (int)(end - target.Pointer));
            runs.Length.Should().BeLessThanOrEqualTo(PageDiff.MaxLength(pageSize) - ByteRunWriter.Slack);
            target.IsIntact.Should().BeTrue();

            replayed.Span.Clear();
            PageDiff.TryApply(runs, replayed.Pointer, pageSize).Should().BeTrue();
            AssertSame(replayed.Span[Unjournaled..], page.Span[Unjournaled..], seed, round);
            replayed.Span[..Unjournaled].ContainsAnyExcept((byte)0).Should().BeFalse();
        }
    }

    [Fact]
    public void The_worst_patterns_stay_within_the_bound()
    {
        foreach (var pageSize in new[] { 4096, 65536 })
        {
            using var page = new GuardedBuffer(pageSize);
            using var previous = new GuardedBuffer(pageSize);
            using var target = new GuardedBuffer(PageDiff.MaxLength(pageSize));
            for (var run = 1; run < 20; run++)
            {
                for (var gap = 1; gap < 20; gap++)
                {
                    // Single bytes in gaps against a page of zeros, and zeros among changed bytes against a page of ones.
                    for (var i = 0; i < pageSize; i++)
                        page.Span[i] = (byte)(i % (run + gap) < run ? 9 : 0);
                    foreach (var fill in new byte[] { 0, 1 })
                    {
                        previous.Span.Fill(fill);
                        var end = PageDiff.Write(target.Pointer, page.Pointer, previous.Pointer, pageSize, ulong.MaxValue);
                        (end - target.Pointer).Should().BeLessThanOrEqualTo(PageDiff.MaxLength(pageSize) - ByteRunWriter.Slack);
                        end = PageDiff.Write(target.Pointer, page.Pointer, null, pageSize, 0);
                        (end - target.Pointer).Should().BeLessThanOrEqualTo(PageDiff.MaxLength(pageSize) - ByteRunWriter.Slack);
                        target.IsIntact.Should().BeTrue();
                    }
                }
            }
        }
    }

    [Fact]
    public void Golden_encoding_stays()
    {
        using var page = new GuardedBuffer(4096, fill: 5);
        using var previous = new GuardedBuffer(4096, fill: 5);
        page.Span[..32].Fill(0xEE);                       // not journaled
        new byte[] { 1, 2, 5, 5, 5, 3 }.CopyTo(page.Span[34..]); // one run: a gap of three joins
        page.Span[44] = 4;                                // another: a gap of four does not
        page.Span.Slice(2000, 300).Clear();               // zeros
        page.Span[2300] = 6;                              // touches them
        page.Span[4095] = 7;

        Diff(page, previous, ulong.MaxValue).Should().Equal(
            2, 10, 1, 2, 5, 5, 5, 3,
            4, 0, 4,
            0xA3, 0x0F, 0xD7, 0x04,
            0, 0, 6,
            0x82, 0x0E, 0, 7);

        page.Span.Clear();
        page.Span[32] = 1;
        page.Span[40] = 2;
        page.Span[49] = 3;
        Diff(page, null, 0).Should().Equal(0, 16, 1, 0, 0, 0, 0, 0, 0, 0, 2, 8, 0, 3);
    }

    [Fact]
    public void Unmarked_lines_are_not_looked_at_and_unchanged_ones_cost_nothing()
    {
        using var page = new GuardedBuffer(4096, fill: 1);
        using var previous = new GuardedBuffer(4096, fill: 1);
        page.Span[640] = 2;
        Diff(page, previous, ~(1UL << 10)).Should().BeEmpty();
        Diff(page, previous, 1UL << 10).Should().HaveCount(4);
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(65536)]
    public void A_forgotten_mark_is_found(int pageSize)
    {
        using var page = new GuardedBuffer(pageSize);
        using var previous = new GuardedBuffer(pageSize);
        for (var offset = 0; offset < pageSize; offset += 7)
        {
            page.Span[offset] = 1;
            var line = 1UL << (offset / (pageSize / 64));
            PageDiff.FindUnmarked(page.Pointer, previous.Pointer, pageSize, ~line).Should().Be(offset < Unjournaled ? -1 : offset);
            PageDiff.FindUnmarked(page.Pointer, previous.Pointer, pageSize, line).Should().Be(-1);
            page.Span[offset] = 0;
        }
    }

    [Theory]
    [InlineData("a run that leaves the page", new byte[] { 0xDF, 0x1F, 2, 1, 2 })]
    [InlineData("zeros that leave the page", new byte[] { 0xDF, 0x1F, 3 })]
    [InlineData("a skip beyond the page", new byte[] { 0xE0, 0x1F, 0, 1 })]
    [InlineData("a skip beyond everything", new byte[] { 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 1 })]
    [InlineData("a length beyond everything", new byte[] { 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F })]
    [InlineData("missing content", new byte[] { 0, 4, 1, 2 })]
    [InlineData("no length", new byte[] { 0 })]
    [InlineData("a number without end", new byte[] { 0x80 })]
    [InlineData("a number too long", new byte[] { 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0, 1 })]
    [InlineData("a number too large", new byte[] { 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0, 1 })]
    public void Malformed_runs_are_refused(string what, byte[] runs)
    {
        using var page = new GuardedBuffer(4096);
        PageDiff.TryApply(runs, page.Pointer, 4096).Should().BeFalse(what);
        page.IsIntact.Should().BeTrue();
        page.Span.ContainsAnyExcept((byte)0).Should().BeFalse("no valid run came before the fault");
    }

    [Fact]
    public void The_last_byte_of_the_page_can_be_written()
    {
        using var page = new GuardedBuffer(4096);
        PageDiff.TryApply([0xDF, 0x1F, 0, 9], page.Pointer, 4096).Should().BeTrue();
        page.Span[4095].Should().Be(9);
        page.IsIntact.Should().BeTrue();
    }

    [Theory]
    [InlineData(31)]
    public void Damaged_runs_never_write_outside_the_page(int seed)
    {
        var random = new Random(seed);
        using var page = new GuardedBuffer(4096);
        using var previous = new GuardedBuffer(4096);
        int refused = 0, accepted = 0;
        for (var round = 0; round < SuiteShare.Rounds(40_000); round++)
        {
            byte[] runs;
            if (round % 2 == 0)
            {
                runs = new byte[random.Next(64)];
                random.NextBytes(runs);
            }
            else
            {
                Fill(random, previous.Span);
                previous.Span.CopyTo(page.Span);
                runs = Diff(page, previous, Edit(random, page.Span));
                for (var damage = random.Next(1, 4); damage > 0 && runs.Length > 0; damage--)
                    runs[random.Next(runs.Length)] ^= (byte)(1 << random.Next(8));
            }

            // The input is at the end of its own buffer, so that a read beyond it hits the guard and shows in the page.
            using var input = new GuardedBuffer(runs);
            if (PageDiff.TryApply(input.Span, page.Pointer, 4096))
                accepted++;
            else
                refused++;
            page.IsIntact.Should().BeTrue("seed {0}, round {1}", seed, round);
        }

        refused.Should().BeGreaterThan(SuiteShare.Rounds(1000));
        accepted.Should().BeGreaterThan(SuiteShare.Rounds(1000));
    }

    [Theory]
    [InlineData(41)]
    public void Sparse_buffers_of_any_length_come_back(int seed)
    {
        var random = new Random(seed);
        for (var round = 0; round < SuiteShare.Rounds(1500); round++)
        {
            var length = round < 200 ? round : random.Next(1, 300_000);
            using var buffer = new GuardedBuffer(length);
            Fill(random, buffer.Span);
            using var target = new GuardedBuffer((int)PageDiff.MaxSparseLength(length));
            var end = PageDiff.WriteSparse(target.Pointer, buffer.Pointer, length);
            var runs = new ReadOnlySpan<byte>(target.Pointer, (int)(end - target.Pointer));
            runs.Length.Should().BeLessThanOrEqualTo((int)PageDiff.MaxSparseLength(length) - ByteRunWriter.Slack);
            target.IsIntact.Should().BeTrue();

            using var replayed = new GuardedBuffer(length);
            PageDiff.TryApplySparse(runs, replayed.Pointer, length).Should().BeTrue();
            AssertSame(replayed.Span, buffer.Span, seed, round);
            replayed.IsIntact.Should().BeTrue();

            if (runs.Length > 0)
            {
                using var shorter = new GuardedBuffer(buffer.Span.LastIndexOfAnyExcept((byte)0));
                PageDiff.TryApplySparse(runs, shorter.Pointer, shorter.Length).Should().BeFalse();
                shorter.IsIntact.Should().BeTrue();
            }
        }
    }

    [Fact]
    public void Sparse_golden_encoding_stays()
    {
        using var buffer = new GuardedBuffer(200);
        buffer.Span[0] = 1;
        buffer.Span[16] = 2;      // fifteen zeros join
        buffer.Span[33] = 3;      // sixteen do not
        buffer.Span[199] = 4;
        using var target = new GuardedBuffer((int)PageDiff.MaxSparseLength(200));
        var end = PageDiff.WriteSparse(target.Pointer, buffer.Pointer, 200);
        new ReadOnlySpan<byte>(target.Pointer, (int)(end - target.Pointer)).ToArray()
            .Should().Equal(0, 32, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 16, 0, 3, 0xA5, 1, 0, 4);
    }

    private static byte[] Diff(GuardedBuffer page, GuardedBuffer? previous, ulong dirty)
    {
        using var target = new GuardedBuffer(PageDiff.MaxLength(page.Length));
        var from = previous == null ? null : previous.Pointer;
        var end = PageDiff.Write(target.Pointer, page.Pointer, from, page.Length, dirty);
        target.IsIntact.Should().BeTrue();
        return new ReadOnlySpan<byte>(target.Pointer, (int)(end - target.Pointer)).ToArray();
    }

    /// <summary>Fills the bytes with stretches of noise, zeros, few values and repeats.</summary>
    private static void Fill(Random random, Span<byte> bytes)
    {
        var longest = 1 << random.Next(1, 12);
        for (var at = 0; at < bytes.Length;)
        {
            var stretch = bytes.Slice(at, Math.Min(random.Next(1, longest + 1), bytes.Length - at));
            switch (random.Next(3))
            {
                case 0: stretch.Clear(); break;
                case 1: random.NextBytes(stretch); break;
                default: stretch.Fill((byte)random.Next(3)); break;
            }

            at += stretch.Length;
        }
    }

    /// <summary>Overwrites some places, and returns marks of their lines and a few others.</summary>
    private static ulong Edit(Random random, Span<byte> page)
    {
        var lineShift = BitOperations.Log2((uint)page.Length) - 6;
        var dirty = 1UL << random.Next(64);
        for (var edits = random.Next(12); edits > 0; edits--)
        {
            var length = random.Next(1, 1 << random.Next(1, 10));
            var offset = random.Next(page.Length - length + 1);
            Fill(random, page.Slice(offset, length));
            for (var line = offset >> lineShift; line <= (offset + length - 1) >> lineShift; line++)
                dirty |= 1UL << line;
        }

        return dirty;
    }

    private static void Mix(Random random, ReadOnlySpan<byte> previous, ReadOnlySpan<byte> page, Span<byte> mixed, int kind)
    {
        for (var i = 0; i < mixed.Length; i++)
        {
            var takeNew = kind switch { 0 => false, 1 => (random.Next() & 1) != 0, _ => ((i >> 9) & 1) != 0 };
            mixed[i] = takeNew ? page[i] : previous[i];
        }
    }

    private static void AssertSame(ReadOnlySpan<byte> actual, ReadOnlySpan<byte> expected, int seed, int round)
    {
        var same = actual.CommonPrefixLength(expected);
        same.Should().Be(expected.Length, "all bytes are equal in round {1} of seed {0}", seed, round);
    }
}
