using System.Text;
using Voron.Compression;

namespace Voron.Tests.Compression;

[Quick]
public unsafe class Lz4BlockTests
{
    public static TheoryData<string, int, int> Inputs()
    {
        var inputs = new TheoryData<string, int, int>();
        foreach (var kind in new[] { "noise", "zeros", "text", "stretches", "mixture", "far repeats" })
        {
            foreach (var length in new[] { 0, 1, 4, 5, 11, 12, 13, 14, 17, 64, 255, 270, 271, 4096, 65535, 65536, 70_000, 300_000 })
                inputs.Add(kind, length, 7 + length);
        }

        return inputs;
    }

    [Theory]
    [MemberData(nameof(Inputs))]
    public void Both_codecs_read_the_output_of_either(string kind, int length, int seed)
    {
        SystemLz4.Require();
        using var source = new GuardedBuffer(Make(kind, length, new Random(seed)));
        using var ours = new GuardedBuffer(Lz4Block.MaxCompressedLength(length));
        using var theirs = new GuardedBuffer(Lz4Block.MaxCompressedLength(length));

        var ourLength = Lz4Block.Compress(source.Pointer, length, ours.Pointer, ours.Length);
        var theirLength = SystemLz4.Compress(source.Pointer, theirs.Pointer, length, theirs.Length);
        ourLength.Should().BePositive();
        theirLength.Should().BePositive();
        ours.IsIntact.Should().BeTrue();

        AssertDecompresses(source, ours.Span[..ourLength], bySystem: true);
        AssertDecompresses(source, ours.Span[..ourLength], bySystem: false);
        AssertDecompresses(source, theirs.Span[..theirLength], bySystem: false);

        if (kind is "zeros" or "text" && length >= 4096)
            ourLength.Should().BeLessThan(length * 6 / 10);
    }

    [Fact]
    public void Every_short_length_comes_back()
    {
        SystemLz4.Require();
        var random = new Random(5);
        for (var length = 0; length < 700; length++)
        {
            using var source = new GuardedBuffer(Make(length % 2 == 0 ? "mixture" : "stretches", length, random));
            using var target = new GuardedBuffer(Lz4Block.MaxCompressedLength(length));
            var written = Lz4Block.Compress(source.Pointer, length, target.Pointer, target.Length);
            target.IsIntact.Should().BeTrue();
            AssertDecompresses(source, target.Span[..written], bySystem: true);
            AssertDecompresses(source, target.Span[..written], bySystem: false);
        }
    }

    [Fact]
    public void An_output_that_does_not_fit_is_refused_and_an_exact_fit_is_not()
    {
        var random = new Random(6);
        foreach (var kind in new[] { "noise", "text", "mixture" })
        {
            using var source = new GuardedBuffer(Make(kind, 3000, random));
            using var roomy = new GuardedBuffer(Lz4Block.MaxCompressedLength(3000));
            var needed = Lz4Block.Compress(source.Pointer, 3000, roomy.Pointer, roomy.Length);
            for (var capacity = 0; capacity <= needed; capacity++)
            {
                using var target = new GuardedBuffer(capacity);
                var written = Lz4Block.Compress(source.Pointer, 3000, target.Pointer, capacity);
                written.Should().Be(capacity < needed ? 0 : needed, "{0} of {1} bytes are available", capacity, needed);
                target.IsIntact.Should().BeTrue();
            }
        }
    }

    [Fact]
    public void Content_longer_than_the_target_is_refused()
    {
        var random = new Random(8);
        foreach (var kind in new[] { "noise", "text", "zeros", "mixture" })
        {
            using var source = new GuardedBuffer(Make(kind, 1000, random));
            using var block = new GuardedBuffer(Lz4Block.MaxCompressedLength(1000));
            var written = Lz4Block.Compress(source.Pointer, 1000, block.Pointer, block.Length);
            for (var room = 0; room < 1000; room++)
            {
                using var target = new GuardedBuffer(room);
                Lz4Block.Decompress(block.Pointer, written, target.Pointer, room).Should().Be(-1);
                target.IsIntact.Should().BeTrue();
            }
        }
    }

    [Fact]
    public void Golden_blocks_are_read()
    {
        // Each block is made by hand from the format: literals; a match that overlaps itself and begins 12 bytes before the end, as the
        // last one may; lengths that continue after the token.
        Decompress([0x00], 10).Should().BeEmpty();
        Decompress([0x50, .. "hello"u8], 5).Should().Equal([.. "hello"u8]);
        Decompress([0x12, (byte)'a', 1, 0, 0x60, .. "bcdefg"u8], 13).Should().Equal([.. "aaaaaaabcdefg"u8]);
        Decompress([0x2F, (byte)'a', (byte)'b', 2, 0, 255, 1, 0x50, .. "vwxyz"u8], 282)
            .Should().Equal(Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("ab", 138)) + "avwxyz"));
        Decompress([0xF0, 5, .. "12345678901234567890"u8], 20).Should().Equal([.. "12345678901234567890"u8]);
        Decompress([0x9F, .. "abcdefgh-"u8, 9, 0, 3, 0x50, .. "efgh."u8], 36).Should().Equal([.. "abcdefgh-abcdefgh-abcdefgh-abcdefgh."u8]);
    }

    // The engine had a codec of its own before: its blocks are in journals and backups.
    [Theory]
    [InlineData("noise", 40, 1, "8BnQhoJAl+Sjlc//Rmmcc8TNEDQTW06jb4SlSt96DqCc4xds5I6CTgIh")]
    [InlineData("text", 300, 2, "8AN0aGUgY29tbWl0CnRyYW5zYWMSADNwYWcFABRpFgCyaW9uIGpvdXJuYWwfAAEZANV3cml0dGVuIGJlZm9ySgACFgADVwABLQADIAACGQAVbkEAAH4AU2" +
        "lzIHRoCQACMwAwaGUglwABYQASYRMAMwppc2QABhAAAwoABFQAMWJlZmYAAzcACbEAZGlzIHRyYb8AAzkACCkAAAcBBB8ABFEABBAAkHBhZ2UgYmVmbw==")]
    [InlineData("stretches", 1200, 3, "790yjy5A8llhgM+xBxXnDgCt/wPCeTeVfxT+dIOLYH9LPoAQsOQSADKf26nOjNWcfW9bCQD/Tp+ewhLMGcu1MsgJAP9GP6q0kgMAeS9CTgIAGFBOQk5CTg" +
        "==")]
    public void Blocks_of_the_former_codec_are_read(string kind, int length, int seed, string block) =>
        Decompress(Convert.FromBase64String(block), length).Should().Equal(Make(kind, length, new Random(seed)));

    [Theory]
    [InlineData("nothing", new byte[0])]
    [InlineData("literals cut off", new byte[] { 0x50, 1, 2 })]
    [InlineData("no offset", new byte[] { 0x10, 1, 1 })]
    [InlineData("offset zero", new byte[] { 0x10, 1, 0, 0, 0x50, 1, 2, 3, 4, 5 })]
    [InlineData("offset zero far from the end", new byte[] { 0x14, 1, 0, 0, 0xF0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 })]
    [InlineData("offset before the start", new byte[] { 0x10, 1, 2, 0, 0x50, 1, 2, 3, 4, 5 })]
    [InlineData("ends behind a match", new byte[] { 0x10, 1, 1, 0 })]
    [InlineData("length cut off", new byte[] { 0xF0, 255, 255 })]
    [InlineData("match length cut off", new byte[] { 0x1F, 1, 1, 0, 255 })]
    public void Malformed_blocks_are_refused(string what, byte[] block)
    {
        using var source = new GuardedBuffer(block);
        using var target = new GuardedBuffer(4096);
        Lz4Block.Decompress(source.Pointer, source.Length, target.Pointer, target.Length).Should().Be(-1, what);
        target.IsIntact.Should().BeTrue();
    }

    [Theory]
    [InlineData(51)]
    public void Damaged_blocks_never_leave_their_buffers(int seed)
    {
        var random = new Random(seed);
        int refused = 0, accepted = 0;
        for (var round = 0; round < SuiteShare.Rounds(60_000); round++)
        {
            byte[] block;
            if (round % 4 == 0)
            {
                block = new byte[random.Next(80)];
                random.NextBytes(block);
            }
            else
            {
                block = Damage(random, Compressed(Make(round % 4 == 1 ? "mixture" : "stretches", random.Next(1, 900), random)));
            }

            using var source = new GuardedBuffer(block);
            using var target = new GuardedBuffer(random.Next(1200), fill: 0x11);
            var written = Lz4Block.Decompress(source.Pointer, source.Length, target.Pointer, target.Length);
            target.IsIntact.Should().BeTrue("nothing is written outside the target: seed {0}, round {1}", seed, round);
            source.IsIntact.Should().BeTrue();
            written.Should().BeInRange(-1, target.Length);
            if (written < 0)
            {
                refused++;
                continue;
            }

            // Content that does not depend on bytes outside the block is the same wherever the block is.
            accepted++;
            using var again = new GuardedBuffer(target.Length, fill: 0xEE);
            fixed (byte* elsewhere = block.Append((byte)0xFF).ToArray())
                Lz4Block.Decompress(elsewhere, block.Length, again.Pointer, again.Length).Should().Be(written);
            again.Span[..written].SequenceEqual(target.Span[..written]).Should()
                .BeTrue("the content does not depend on the previous bytes of the target: seed {0}, round {1}", seed, round);
        }

        refused.Should().BeGreaterThan(SuiteShare.Rounds(1000));
        accepted.Should().BeGreaterThan(SuiteShare.Rounds(1000));
    }

    [Theory]
    [InlineData(100)]
    [InlineData(5000)]
    [InlineData(100_000)]
    public void Nothing_is_allocated(int length)
    {
        using var source = new GuardedBuffer(Make("text", length, new Random(9)));
        using var block = new GuardedBuffer(Lz4Block.MaxCompressedLength(length));

        // The first round compiles. A collection, which other tests may cause, counts the rest of a thread's piece of the heap.
        var least = long.MaxValue;
        for (var round = 0; round < 100; round++)
        {
            var before = GC.GetAllocatedBytesForCurrentThread();
            var written = Lz4Block.Compress(source.Pointer, length, block.Pointer, block.Length);
            var read = Lz4Block.Decompress(block.Pointer, written, source.Pointer, length);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            read.Should().Be(length);
        }

        least.Should().Be(0);
    }

    [Fact]
    public void Lengths_no_block_can_have_are_refused()
    {
        FluentActions.Invoking(() => Lz4Block.MaxCompressedLength(-1)).Should().Throw<ArgumentOutOfRangeException>();
        FluentActions.Invoking(() => Lz4Block.MaxCompressedLength(int.MaxValue)).Should().Throw<ArgumentOutOfRangeException>();
    }

    private static byte[] Compressed(byte[] content)
    {
        var block = new byte[Lz4Block.MaxCompressedLength(content.Length)];
        fixed (byte* source = content, target = block)
            return block[..Lz4Block.Compress(source, content.Length, target, block.Length)];
    }

    private static byte[] Decompress(byte[] block, int room)
    {
        using var source = new GuardedBuffer(block);
        using var target = new GuardedBuffer(room);
        var written = Lz4Block.Decompress(source.Pointer, source.Length, target.Pointer, room);
        written.Should().BeGreaterThanOrEqualTo(0);
        return target.Span[..written].ToArray();
    }

    private static void AssertDecompresses(GuardedBuffer content, ReadOnlySpan<byte> block, bool bySystem)
    {
        using var source = new GuardedBuffer(block);
        using var target = new GuardedBuffer(content.Length);
        var written = bySystem
            ? SystemLz4.Decompress(source.Pointer, target.Pointer, source.Length, target.Length)
            : Lz4Block.Decompress(source.Pointer, source.Length, target.Pointer, target.Length);
        written.Should().Be(content.Length);
        target.Span.SequenceEqual(content.Span).Should().BeTrue();
        target.IsIntact.Should().BeTrue();
    }

    private static byte[] Damage(Random random, byte[] block)
    {
        for (var damage = random.Next(1, 4); damage > 0 && block.Length > 0; damage--)
        {
            var at = random.Next(block.Length);
            switch (random.Next(4))
            {
                case 0: block[at] ^= (byte)(1 << random.Next(8)); break;
                case 1: block[at] = 255; break;
                case 2: block[at] = (byte)random.Next(256); break;
                default: block = block[..at]; break;
            }
        }

        return block;
    }

    private static byte[] Make(string kind, int length, Random random)
    {
        var bytes = new byte[length];
        string[] words = ["page ", "journal ", "transaction ", "the ", "is ", "written ", "before ", "commit\n"];
        for (var at = 0; at < length && kind != "zeros";)
        {
            var stretch = bytes.AsSpan(at, Math.Min(random.Next(1, kind == "stretches" ? 700 : 60), length - at));
            var choice = kind switch { "noise" => 0, "text" => 1, "stretches" => 2, "far repeats" => 3, _ => random.Next(4) };
            switch (choice)
            {
                case 0:
                    random.NextBytes(stretch);
                    break;
                case 1:
                    var word = words[random.Next(words.Length)];
                    stretch = stretch[..Math.Min(word.Length, stretch.Length)];
                    Encoding.ASCII.GetBytes(word)[..stretch.Length].CopyTo(stretch);
                    break;
                case 2:
                    // A pattern of up to 20 bytes, repeated: all the short offsets.
                    var period = random.Next(1, 21);
                    for (var i = 0; i < stretch.Length; i++)
                        stretch[i] = i < period ? (byte)random.Next(256) : stretch[i - period];
                    break;
                default:
                    // Repeats from around the maximum offset, and noise before that offset is possible.
                    var back = 65535 - 2 + random.Next(5);
                    if (at < back || random.Next(8) == 0)
                        random.NextBytes(stretch);
                    else
                        bytes.AsSpan(at - back, stretch.Length).CopyTo(stretch);
                    break;
            }

            at += stretch.Length;
        }

        return bytes;
    }
}
