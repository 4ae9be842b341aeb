namespace Voron.Tests.Keys;

/// <summary>Buffers that are too short, wrong calls, reuse, and memory.</summary>
[Quick]
public sealed class KeyWriterTests
{
    [Fact]
    public void A_field_that_does_not_fit_moves_the_key_or_throws_and_changes_nothing()
    {
        var random = new Random(1);
        foreach (var field in KeyFields.All)
        {
            foreach (var descending in new[] { false, true })
            {
                var value = field.Draw(random);
                var length = field.Encode(value, descending).Length;
                for (var room = 0; room < length; room++)
                {
                    var growing = new KeyWriter(new byte[3 + room]);
                    field.Add(ref growing.Add((byte)1).Add((ushort)2), value, descending);
                    growing.Written[3..].ToArray().Should().Equal(field.Encode(value, descending));
                    var key = new KeyWriter(new byte[3 + room], isFixed: true);
                    key.Add((byte)1).Add((ushort)2);
                    InvalidOperationException? thrown = null;
                    try
                    {
                        field.Add(ref key, value, descending);
                    }
                    catch (InvalidOperationException e)
                    {
                        thrown = e;
                    }

                    Assert.True(thrown != null, $"{field} {value} of {length} bytes fits into {room}");
                    thrown.Message.Should().StartWith($"The key would be longer than {3 + room} bytes, the most that it can have: 3 are written, and the next field");
                    key.Written.ToArray().Should().Equal(1, 0, 2);
                }

                var exact = new KeyWriter(new byte[3 + length]);
                exact.Add((byte)1).Add((ushort)2);
                field.Add(ref exact, value, descending);
                exact.WrittenCount.Should().Be(3 + length);
            }
        }
    }

    [Fact]
    public void Wrong_calls_say_what_is_wrong_and_change_nothing()
    {
        Refuses<ArgumentNullException>("value", (ref key) => key.Add((string)null!));
        Refuses<ArgumentNullException>("value", (ref key) => key.AddDescending((string)null!));
        Refuses<ArgumentNullException>("value", (ref key) => key.AddPrefix((string)null!));
        Refuses<ArgumentNullException>("value", (ref key) => key.AddPrefixDescending((string)null!));
        Refuses<ArgumentException>("value", (ref key) => key.Add("ab\uD800c")).Message.Should().Contain("at index 2");
        Refuses<ArgumentException>("value", (ref key) => key.AddDescending("\uDC00"));
        Refuses<ArgumentException>("value", (ref key) => key.AddPrefix("\uD800"));
        Refuses<ArgumentException>("value", (ref key) => key.AddPrefixDescending("a\uD800"));
        Refuses<ArgumentOutOfRangeException>("count", (ref key) => key.Truncate(-1));
        Refuses<ArgumentOutOfRangeException>("count", (ref key) => key.Truncate(5)).Message.Should().Contain("from 0 to 4 bytes");
    }

    [Fact]
    public void A_read_into_a_buffer_that_is_too_short_throws_and_leaves_the_reader_where_it_is()
    {
        foreach (var descending in new[] { false, true })
        {
            var key = new KeyWriter(new byte[64]);
            _ = descending ? key.Add(1).AddDescending("aé\0").AddDescending([1, 2]) : key.Add(1).Add("aé\0").Add([1, 2]);
            var reader = new KeyReader(key.Written);
            reader.ReadInt32();
            Throws<ArgumentException>(ref reader, (ref key) => _ = descending ? key.ReadStringDescending(new char[2]) : key.ReadString(new char[2]))
                .ParamName.Should().Be("destination");
            var text = new char[3];
            (descending ? reader.ReadStringDescending(text) : reader.ReadString(text)).Should().Be(3);
            new string(text).Should().Be("aé\0");
            Throws<ArgumentException>(ref reader, (ref key) => _ = descending ? key.ReadBytesDescending(new byte[1]) : key.ReadBytes(new byte[1]))
                .Message.Should().StartWith("The destination has room for 1 elements, but the field has 2. Nothing was read.");
            var bytes = new byte[5];
            (descending ? reader.ReadBytesDescending(bytes) : reader.ReadBytes(bytes)).Should().Be(2);
            bytes.Should().Equal(1, 2, 0, 0, 0);
            reader.IsAtEnd.Should().BeTrue();
        }
    }

    [Fact]
    public void A_kind_of_time_that_does_not_exist_is_refused()
    {
        var reader = new KeyReader(new byte[8]);
        Throws<ArgumentException>(ref reader, (ref key) => key.ReadDateTime((DateTimeKind)3)).ParamName.Should().Be("kind");
        reader.ReadDateTime(DateTimeKind.Local).Kind.Should().Be(DateTimeKind.Local);
    }

    [Fact]
    public void A_writer_begins_without_a_buffer_and_a_reader_without_a_key_has_no_field()
    {
        var writer = default(KeyWriter);
        writer.Written.IsEmpty.Should().BeTrue();
        writer.TryIncrement().Should().BeFalse();
        writer.AddPrefix("").Written.IsEmpty.Should().BeTrue();
        writer.Add("text").Written.ToArray().Should().Equal([.. "text"u8, 0], "it takes a buffer of its own");
        default(KeyReader).IsAtEnd.Should().BeTrue();
        var reader = default(KeyReader);
        Throws<FormatException>(ref reader, (ref key) => key.ReadByte()).Message.Should().StartWith("The key of 0 bytes ends within the Byte at offset 0.");
    }

    [Fact]
    public void Texts_can_be_skipped()
    {
        var key = new KeyWriter(new byte[64]);
        var reader = new KeyReader(key.Add("a\0b").AddDescending("c\u0001").Add("e"u8).Add(7).Written);
        reader.SkipString();
        reader.SkipStringDescending();
        reader.SkipString();
        reader.ReadInt32().Should().Be(7);
        Throws<FormatException>(ref reader, (ref key) => key.SkipString());
        Throws<FormatException>(ref reader, (ref key) => key.SkipStringDescending());
    }

    [Fact]
    public void A_key_can_be_cut_cleared_and_incremented()
    {
        var key = new KeyWriter(new byte[8]);
        var count = key.Add((ushort)0x01FF).WrittenCount;
        key.Add((byte)3).Add((byte)255);
        key.TryIncrement().Should().BeTrue();
        key.Written.ToArray().Should().Equal(1, 255, 4);
        key.Truncate(count);
        key.Add(true).Written.ToArray().Should().Equal(1, 255, 1);
        key.Truncate(count);
        key.TryIncrement().Should().BeTrue();
        key.Written.ToArray().Should().Equal(2);
        key.Clear();
        key.TryIncrement().Should().BeFalse();
        key.Add(ushort.MaxValue).TryIncrement().Should().BeFalse();
        key.Written.ToArray().Should().Equal(255, 255);
    }

    [Fact]
    public void A_chain_of_calls_needs_no_variable() =>
        new KeyWriter(stackalloc byte[16]).Add((byte)1).AddDescending((byte)1).Add("a").Written.ToArray().Should().Equal(1, 254, 97, 0);

    [Fact]
    public void Writing_and_reading_allocates_nothing()
    {
        WriteAndRead(out _);
        WriteAndRead(out _);
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < 100; i++)
                WriteAndRead(out _);
        }).Should().Be(0);
    }

    private static void WriteAndRead(out bool isAtEnd)
    {
        var key = new KeyWriter(stackalloc byte[256]);
        key.Add(true).Add((sbyte)1).Add((short)1).Add((ushort)1).Add(1).Add(1U).Add(1L).Add(1UL).Add((Int128)1).Add((UInt128)1);
        key.Add((Half)1).Add(1f).AddDescending(1d).AddDescending(12.345m).AddDescending(Guid.Empty).AddDescending(DateTime.UnixEpoch);
        key.Add(DateTimeOffset.UnixEpoch).Add(DateOnly.MaxValue).Add(TimeOnly.MaxValue).Add(TimeSpan.MaxValue);
        key.Add("a text\0").AddDescending("another one").Add("bytes"u8).AddNull().AddNotNull();

        Span<char> text = stackalloc char[32];
        Span<byte> bytes = stackalloc byte[32];
        var reader = new KeyReader(key.Written);
        _ = reader.ReadBoolean() && reader.ReadSByte() + reader.ReadInt16() + reader.ReadUInt16() + reader.ReadInt32() + reader.ReadUInt32() > 0;
        _ = reader.ReadInt64() + (long)reader.ReadUInt64() + (long)reader.ReadInt128() + (long)reader.ReadUInt128();
        _ = (float)reader.ReadHalf() + reader.ReadSingle() + reader.ReadDoubleDescending() + (double)reader.ReadDecimalDescending();
        _ = reader.ReadGuidDescending();
        _ = reader.ReadDateTimeDescending();
        _ = reader.ReadDateTimeOffset();
        _ = reader.ReadDateOnly();
        _ = reader.ReadTimeOnly();
        _ = reader.ReadTimeSpan();
        _ = reader.ReadString(text) + reader.ReadStringDescending(text) + reader.ReadBytes(bytes);
        _ = reader.TryReadNull() && reader.TryReadNull();
        isAtEnd = reader.IsAtEnd;
        Assert.True(isAtEnd);
    }

    private delegate void Use(ref KeyWriter key);

    private delegate void UseReader(ref KeyReader key);

    private static T Refuses<T>(string? parameter, Use use, bool keeps = true)
        where T : Exception
    {
        var key = new KeyWriter(new byte[64]);
        key.Add(7);
        try
        {
            use(ref key);
        }
        catch (T e)
        {
            (e as ArgumentException)?.ParamName.Should().Be(parameter);
            if (keeps)
                key.Written.ToArray().Should().Equal(128, 0, 0, 7);
            return e;
        }

        throw new InvalidOperationException($"no {typeof(T).Name} was thrown");
    }

    private static T Throws<T>(ref KeyReader reader, UseReader use)
        where T : Exception
    {
        var before = reader.Offset;
        try
        {
            use(ref reader);
        }
        catch (T e)
        {
            reader.Offset.Should().Be(before);
            return e;
        }

        throw new InvalidOperationException($"no {typeof(T).Name} was thrown");
    }
}
