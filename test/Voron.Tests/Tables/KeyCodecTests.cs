using Voron.Tables;

namespace Voron.Tests.Tables;

/// <summary>The bytes of primary keys have the order of the keys, and stay as they are.</summary>
[Quick]
public sealed class KeyCodecTests
{
    private static readonly string[] Texts = ["a", "b", "ab", "a\0", "a\u0001", "a\u0002", "\0", "é", "z", "zz", "\uFFFD", "\U0001F600"];

    [Fact]
    public void Keys_have_the_order_of_their_bytes()
    {
        Check(KeyCodec.Int32, random => random.Next(-5, 5) * (1 << random.Next(28)));
        Check(KeyCodec.Int64, random => random.NextInt64(-5, 5) << random.Next(60));
        Check(KeyCodec.UInt32, random => (uint)random.Next() << random.Next(2));
        Check(KeyCodec.UInt64, random => (ulong)random.NextInt64() << random.Next(2));
        Check(KeyCodec.Guid, random =>
        {
            var bytes = new byte[16];
            bytes[random.Next(16)] = (byte)random.Next(256);
            return new Guid(bytes);
        });
        Check(KeyCodec.DateTime, random => new DateTime(random.NextInt64(DateTime.MaxValue.Ticks), (DateTimeKind)random.Next(3)));
        Check(KeyCodec.DateTimeOffset,
            random => DateTimeOffset.UnixEpoch.AddDays(random.Next(-9, 9)).ToOffset(TimeSpan.FromHours(random.Next(-9, 9))),
            (left, right) => (left.UtcTicks, left.Offset).CompareTo((right.UtcTicks, right.Offset)));
        Check(KeyCodec.Bytes, random => Enumerable.Range(0, random.Next(1, 5)).Select(_ => (byte)(random.Next(3) - 1)).ToArray(),
            (left, right) => left.Span.SequenceCompareTo(right.Span));
        Check(KeyCodec.Utf8, random => Texts[random.Next(Texts.Length)] + Texts[random.Next(Texts.Length)],
            (left, right) => System.Text.Encoding.UTF8.GetBytes(left).AsSpan().SequenceCompareTo(System.Text.Encoding.UTF8.GetBytes(right)));
    }

    [Fact]
    public void Texts_and_bytes_are_stored_as_they_are()
    {
        Encode(KeyCodec.Utf8, "a\0\u0001é").Should().Equal("a\0\u0001é"u8.ToArray());
        Encode(KeyCodec.Bytes, new byte[] { 0, 1, 2, 255 }).Should().Equal(0, 1, 2, 255);
        Encode(KeyCodec.Utf8, "").Should().BeEmpty();
        Encode(KeyCodec.Int32, 1).Should().Equal(0x80, 0, 0, 1);
    }

    [Fact]
    public void A_key_that_does_not_fit_is_known_from_other_failures()
    {
        foreach (var text in new[] { new string('x', 65), new string('é', 33) })
        {
            Fails<InvalidOperationException>(KeyCodec.Utf8, text, out var isFull);
            isFull.Should().BeTrue();
        }

        Fails<InvalidOperationException>(KeyCodec.Bytes, new byte[65], out var full);
        full.Should().BeTrue();
        Fails<ArgumentException>(KeyCodec.Utf8, "a\uD800", out full).Message.Should().Contain("half of a surrogate pair at index 1");
        full.Should().BeFalse();
        Fails<ArgumentNullException>(KeyCodec.Utf8, null!, out full);
        full.Should().BeFalse();
        Encode(KeyCodec.Utf8, new string('x', 64)).Should().HaveCount(64);
    }

    [Fact]
    public void A_function_makes_a_codec()
    {
        var codec = KeyCodec.Create<(string Store, int Number)>(
            "store/number", static (key, ref writer) => writer.Add(key.Store).AddDescending(key.Number));
        codec.Name.Should().Be("store/number");
        codec.ToString().Should().Be("store/number");
        Encode(codec, ("a", 1)).Should().Equal((byte)'a', 0, 0x7F, 255, 255, 254);

        Assert.Throws<ArgumentNullException>(static () => KeyCodec.Create<int>(null!, static (key, ref writer) => writer.Add(key)))
            .ParamName.Should().Be("name");
        Assert.Throws<ArgumentNullException>(static () => KeyCodec.Create<int>("a", null!)).ParamName.Should().Be("write");
        foreach (var name in (string[])["", " ", .. Names])
        {
            var refused = Assert.Throws<ArgumentException>(() => KeyCodec.Create<int>(name, static (key, ref writer) => writer.Add(key)));
            refused.ParamName.Should().Be("name");
        }
    }

    [Fact]
    public void Names_stay_as_they_are_because_tables_keep_them() =>
        Names.Should().Equal("utf8", "bytes", "int32", "int64", "uint32", "uint64", "guid", "datetime", "datetimeoffset");

    private static string[] Names =>
    [
        KeyCodec.Utf8.Name, KeyCodec.Bytes.Name, KeyCodec.Int32.Name, KeyCodec.Int64.Name, KeyCodec.UInt32.Name, KeyCodec.UInt64.Name,
        KeyCodec.Guid.Name, KeyCodec.DateTime.Name, KeyCodec.DateTimeOffset.Name,
    ];

    private static void Check<T>(IKeyCodec<T> codec, Func<Random, T> draw, Comparison<T>? compare = null)
    {
        var random = new Random(7);
        compare ??= Comparer<T>.Default.Compare;
        for (var i = 0; i < 2_000; i++)
        {
            var (left, right) = (draw(random), draw(random));
            var bytes = Encode(codec, left).AsSpan().SequenceCompareTo(Encode(codec, right));
            Assert.True(Math.Sign(bytes) == Math.Sign(compare(left, right)), $"{codec}: {left} and {right}");
        }
    }

    private static byte[] Encode<T>(IKeyCodec<T> codec, T key)
    {
        var writer = new KeyWriter(new byte[64]);
        codec.Write(key, ref writer);
        return writer.Written.ToArray();
    }

    private static TException Fails<TException>(IKeyCodec<string> codec, string key, out bool isFull)
        where TException : Exception => Fails<TException, string>(codec, key, out isFull);

    private static TException Fails<TException>(IKeyCodec<ReadOnlyMemory<byte>> codec, byte[] key, out bool isFull)
        where TException : Exception => Fails<TException, ReadOnlyMemory<byte>>(codec, key, out isFull);

    private static TException Fails<TException, TKey>(IKeyCodec<TKey> codec, TKey key, out bool isFull)
        where TException : Exception
    {
        var writer = new KeyWriter(new byte[64], isFixed: true);
        try
        {
            codec.Write(key, ref writer);
        }
        catch (TException e)
        {
            isFull = writer.IsFull;
            writer.WrittenCount.Should().Be(0);
            return e;
        }

        throw new InvalidOperationException($"no {typeof(TException).Name} was thrown");
    }
}
