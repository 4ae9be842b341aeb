using System.Text;
using Voron.Compression;

namespace Voron.Tests.Compression;

/// <summary>The codec with a dictionary: what is compressed comes back, and no bytes lead it outside of its buffers.</summary>
public unsafe class ValueCodecTests
{
    private static readonly int[] DictionaryLengths = [0, 1, 3, 4, 5, 31, 32, 33, 1000, 65_535, 65_536];

    private readonly ValueStrings _strings = new();
    private ValueDictionary? _indexed;
    private DictionaryIndex? _index;

    public static TheoryData<bool, int> Cases()
    {
        var cases = new TheoryData<bool, int>();
        foreach (var length in DictionaryLengths)
        {
            cases.Add(false, length);
            cases.Add(true, length);
        }

        return cases;
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void Values_of_all_lengths_come_back(bool isThorough, int dictionaryLength)
    {
        var random = new Random(dictionaryLength);
        var dictionary = new ValueDictionary(1, Records(random, dictionaryLength));
        for (var length = 0; length < 700; length++)
            RoundTrip(dictionary, Records(random, length), isThorough);
        foreach (var length in new[] { 1000, 4096, 16_383, 16_384, 65_535, 65_536 })
        {
            RoundTrip(dictionary, Records(random, length), isThorough);
            RoundTrip(dictionary, Noise(random, length), isThorough);
            RoundTrip(dictionary, new byte[length], isThorough);
        }
    }

    [Fact]
    public void A_match_may_continue_from_the_dictionary_into_the_value()
    {
        // The dictionary ends with the beginning of the value, which repeats itself.
        var text = Encoding.ASCII.GetBytes("abcdefgh");
        var value = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("abcdefgh", 40)));
        foreach (var isThorough in new[] { false, true })
            RoundTrip(new ValueDictionary(1, text), value, isThorough).Should().BeLessThan(30);
    }

    [Fact]
    public void The_whole_dictionary_is_within_reach_of_short_values()
    {
        var random = new Random(3);
        var dictionary = Noise(random, ValueDictionary.MaxBytes);
        var first = dictionary.AsSpan(1, 200).ToArray();
        RoundTrip(new ValueDictionary(1, dictionary), first, isThorough: true).Should().BeLessThan(30);

        // One byte further back than the format can say.
        RoundTrip(new ValueDictionary(1, dictionary), dictionary[..200], isThorough: true).Should().BeGreaterThan(199);
    }

    [Fact]
    public void A_dictionary_makes_similar_records_smaller()
    {
        var random = new Random(4);
        var samples = Enumerable.Range(0, 1000).Select(_ => Records(random, 600)).ToList();
        var built = DictionaryBuilder.Build(samples, ValueDictionary.MaxBytes);
        built.Length.Should().BeInRange(64, ValueDictionary.MaxBytes);
        DictionaryBuilder.Build(samples, ValueDictionary.MaxBytes).Should().Equal(built, "training is deterministic");
        var dictionary = new ValueDictionary(1, built);
        var none = new ValueDictionary(0, []);
        var value = Records(random, 600);
        var with = RoundTrip(dictionary, value, isThorough: true);
        with.Should().BeLessThan(RoundTrip(none, value, isThorough: true) * 8 / 10);
        with.Should().BeLessThanOrEqualTo(RoundTrip(dictionary, value, isThorough: false));
    }

    [Fact]
    public void Samples_without_anything_in_common_give_no_dictionary()
    {
        var random = new Random(5);
        DictionaryBuilder.Build([.. Enumerable.Range(0, 200).Select(_ => Noise(random, 300))], ValueDictionary.MaxBytes).Should().BeEmpty();
        DictionaryBuilder.Build([], ValueDictionary.MaxBytes).Should().BeEmpty();
    }

    [Fact]
    public void A_block_that_does_not_fit_is_refused()
    {
        var random = new Random(6);
        var dictionary = new ValueDictionary(1, Records(random, 5000));
        var value = Records(random, 900);
        var needed = RoundTrip(dictionary, value, isThorough: false);
        var index = IndexOf(dictionary);
        for (var capacity = 0; capacity <= needed; capacity++)
        {
            using var target = new GuardedBuffer(capacity);
            ValueEncoder.Compress(index, value, target.Span, isThorough: false).Should().Be(capacity < needed ? 0 : needed);
            target.IsIntact.Should().BeTrue();
        }
    }

    [Theory]
    [InlineData("nothing", new byte[0])]
    [InlineData("literals cut off", new byte[] { 0x50, 1, 2 })]
    [InlineData("no distance", new byte[] { 0x10, 1, 1 })]
    [InlineData("distance zero", new byte[] { 0x10, 1, 0, 0, 0x50, 1, 2, 3, 4, 5 })]
    [InlineData("distance before the dictionary", new byte[] { 0x10, 1, 10, 0, 0x50, 1, 2, 3, 4, 5 })]
    [InlineData("ends behind a match", new byte[] { 0x10, 1, 1, 0 })]
    [InlineData("length cut off", new byte[] { 0xF0, 255, 255 })]
    [InlineData("match length cut off", new byte[] { 0x1F, 1, 1, 0, 255 })]
    public void Malformed_blocks_are_refused(string what, byte[] block)
    {
        using var target = new GuardedBuffer(4096);
        ValueDecoder.Decompress(block, new byte[8], target.Span).Should().Be(-1, what);
        target.IsIntact.Should().BeTrue();
    }

    [Theory]
    [InlineData(52)]
    public void Damaged_blocks_never_leave_their_buffers(int seed)
    {
        var random = new Random(seed);
        int refused = 0, accepted = 0;
        for (var round = 0; round < SuiteShare.Rounds(30_000); round++)
        {
            using var dictionary = new GuardedBuffer(Records(random, random.Next(4) == 0 ? 0 : random.Next(300)));
            byte[] block;
            if (round % 4 == 0)
            {
                block = Noise(random, random.Next(80));
            }
            else
            {
                var value = Records(random, random.Next(300));
                var room = new byte[400];
                var length = ValueEncoder.Compress(new DictionaryIndex(dictionary.Span, _strings), value, room, round % 2 == 0);
                block = room[..length];
                for (var flips = random.Next(1, 4); flips > 0 && length > 0; flips--)
                    block[random.Next(length)] ^= (byte)(1 << random.Next(8));
            }

            using var source = new GuardedBuffer(block);
            using var target = new GuardedBuffer(random.Next(400));
            var written = ValueDecoder.Decompress(source.Span, dictionary.Span, target.Span);
            written.Should().BeInRange(-1, target.Length);
            (target.IsIntact && source.IsIntact && dictionary.IsIntact).Should().BeTrue();
            _ = written < 0 ? refused++ : accepted++;
        }

        refused.Should().BePositive();
        accepted.Should().BePositive();
    }

    private DictionaryIndex IndexOf(ValueDictionary dictionary)
    {
        if (_indexed != dictionary || _index == null)
            (_indexed, _index) = (dictionary, new DictionaryIndex(dictionary.Bytes, _strings));
        return _index;
    }

    private int RoundTrip(ValueDictionary dictionary, byte[] value, bool isThorough)
    {
        using var block = new GuardedBuffer(Lz4Block.MaxCompressedLength(value.Length));
        var length = ValueEncoder.Compress(IndexOf(dictionary), value, block.Span, isThorough);
        length.Should().BePositive();
        block.IsIntact.Should().BeTrue();
        using var source = new GuardedBuffer(block.Span[..length]);
        using var target = new GuardedBuffer(value.Length);
        ValueDecoder.Decompress(source.Span, dictionary.Bytes, target.Span).Should().Be(value.Length);
        target.IsIntact.Should().BeTrue();
        target.Span.SequenceEqual(value).Should().BeTrue();
        if (value.Length > 0)
        {
            using var tooShort = new GuardedBuffer(value.Length - 1);
            ValueDecoder.Decompress(source.Span, dictionary.Bytes, tooShort.Span).Should().Be(-1);
        }

        return length;
    }

    private static byte[] Noise(Random random, int length)
    {
        var bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }

    private static byte[] Records(Random random, int length)
    {
        string[] words = ["\"name\":\"", "\"version\":", "\"depends\":[", "libfoo", "python3-", "section", "\",", "1.2.", "-dev", "maintainer"];
        var text = new StringBuilder();
        while (text.Length < length)
            text.Append(words[random.Next(words.Length)]).Append(random.Next(100));
        return Encoding.ASCII.GetBytes(text.ToString(0, length));
    }
}
