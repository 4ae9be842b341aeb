namespace Voron.Tests.Keys;

/// <summary>Bytes that no writer has written are refused, and the reader stays where it was. A failure names the seed to run again.</summary>
[Quick]
public sealed class MalformedKeyTests
{
    public static TheoryData<string, int> FieldsAndSeeds => KeyOrderTests.FieldsAndSeeds;

    /// <summary>
    /// A field that can be read has exactly the bytes that a writer writes for it: no two keys are read as the same value. The bytes around the
    /// key make no difference.
    /// </summary>
    [Theory]
    [MemberData(nameof(FieldsAndSeeds))]
    public void A_key_that_can_be_read_is_the_one_that_is_written(string name, int seed)
    {
        var field = KeyFields.Named(name);
        var random = new Random(seed);
        var (read, refused) = (0, 0);
        for (var run = 0; run < SuiteShare.Rounds(3000); run++)
        {
            var descending = random.Next(2) == 0;
            var key = Damaged(field, descending, random);
            if (Read(field, key, descending, surroundings: 0) is { } value)
            {
                read++;
                var written = field.Encode(value, descending);
                Assert.True(key.AsSpan().StartsWith(written), $"{Convert.ToHexString(key)} was read as {value}, which is {Convert.ToHexString(written)}");
            }
            else
            {
                refused++;
            }
        }

        read.Should().BeGreaterThan(SuiteShare.Rounds(100));
        refused.Should().BeGreaterThan(SuiteShare.Rounds(100));
    }

    [Fact]
    public void Every_beginning_of_a_key_is_refused_with_its_offset()
    {
        var random = new Random(3);
        foreach (var field in KeyFields.All)
        {
            foreach (var descending in new[] { false, true })
            {
                var key = field.Encode(field.Draw(random), descending);
                for (var length = 0; length < key.Length; length++)
                {
                    var cut = key[..length];
                    var read = () => Read(ref cut, field, descending);
                    read.Should().Throw<FormatException>().WithMessage($"The key of {length + 1} bytes ends within the * at offset 1.*");
                }
            }
        }
    }

    [Theory]
    [InlineData("Boolean", "02", "a third truth value")]
    [InlineData("Half", "7FFF", "-0")]
    [InlineData("Half", "FFFF", "a NaN")]
    [InlineData("Single", "7FFFFFFF", "-0")]
    [InlineData("Single", "00000000", "a NaN")]
    [InlineData("Double", "7FFFFFFFFFFFFFFF", "-0")]
    [InlineData("Double", "FFF8000000000000", "a NaN")]
    [InlineData("Decimal", "80", null)]
    [InlineData("Decimal", "9DC8", "a pair of 100")]
    [InlineData("Decimal", "9D12", "a first digit of 0")]
    [InlineData("Decimal", "9D1500", "a pair of zeros at the end")]
    [InlineData("Decimal", "BA14", "an exponent of 30")]
    [InlineData("Decimal", "8114", null)]
    [InlineData("Decimal", "8116", "29 decimal places")]
    [InlineData("Decimal", "B9C7C7C7C7C7C7C7C7C7C7C7C7C7C7B4", "more than 96 bits")]
    [InlineData("Decimal", "9D15151515151515151515151515151515", "more than 15 pairs")]
    [InlineData("DateOnly", "0037B9DB", "the day after the last")]
    [InlineData("TimeOnly", "000000C92A69C000", "24 hours")]
    [InlineData("DateTime", "2BCA2875F4374000", "the tick after the last")]
    [InlineData("DateTimeOffset", "089F7FF5F7B580008349", "14:01")]
    [InlineData("DateTimeOffset", "00000000000000007FFF", "a local time before the first")]
    [InlineData("DateTimeOffset", "2BCA2875F4373FFF8001", "a local time after the last")]
    [InlineData("String", "6100", null)]
    [InlineData("String", "61010300", "an escape that is none")]
    [InlineData("String", "FF00", "no UTF-8")]
    [InlineData("String", "EDA08000", "half of a surrogate pair")]
    [InlineData("String", "C18000", "a longer form than needed")]
    public void Bytes_of_no_value_are_refused(string name, string key, string? because)
    {
        var field = KeyFields.Named(name);
        var bytes = Convert.FromHexString(key);
        foreach (var descending in new[] { false, true })
        {
            var stored = descending ? Array.ConvertAll(bytes, value => (byte)~value) : bytes;
            var read = () => Read(ref stored, field, descending);
            if (because == null)
                read.Should().NotThrow("it is the neighbour of a malformed key");
            else
                read.Should().Throw<FormatException>(because).WithMessage("The bytes at offset * of the key are those of no *");
        }
    }

    [Theory]
    [InlineData("02", false)]
    [InlineData("FF", false)]
    [InlineData("00", true)]
    [InlineData("FD", true)]
    public void A_marker_that_is_none_is_refused(string key, bool descending)
    {
        var read = () =>
        {
            var reader = new KeyReader(Convert.FromHexString(key));
            return descending ? reader.TryReadNullDescending() : reader.TryReadNull();
        };
        read.Should().Throw<FormatException>().WithMessage("*null marker*");
    }

    // The byte before the field makes its offset 1.
    private static object Read(ref byte[] field, KeyField type, bool descending)
    {
        var reader = new KeyReader([7, .. field]);
        reader.ReadByte();
        var result = type.Read(ref reader, descending);
        reader.IsAtEnd.Should().BeTrue();
        return result;
    }

    private static byte[] Damaged(KeyField field, bool descending, Random random)
    {
        var key = field.Encode(field.Draw(random), descending).ToList();
        switch (random.Next(5))
        {
            case 0:
                key.RemoveRange(random.Next(key.Count), 1);
                break;
            case 1:
                key.Insert(random.Next(key.Count + 1), (byte)random.Next(256));
                break;
            case 2:
                key[random.Next(key.Count)] ^= (byte)(1 << random.Next(8));
                break;
            case 3:
                for (var i = 0; i < key.Count; i++)
                    key[i] = (byte)random.Next(256);
                break;
        }

        return [.. key];
    }

    /// <summary>Reads a field twice, in different surroundings; null if it is refused.</summary>
    private static object? Read(KeyField field, byte[] key, bool descending, byte surroundings)
    {
        byte[] memory = [surroundings, surroundings, .. key, surroundings, surroundings];
        var reader = new KeyReader(memory.AsSpan(2, key.Length));
        object? result = null;
        try
        {
            result = field.Read(ref reader, descending);
        }
        catch (FormatException)
        {
            Assert.True(reader.Offset == 0, $"{field}: the reader moved over {Convert.ToHexString(key)}");
        }

        if (surroundings != 255)
        {
            var again = Read(field, key, descending, (byte)(surroundings == 0 ? 1 : 255));
            Assert.True(again == null == (result == null), $"{field}: the bytes around {Convert.ToHexString(key)} were read");
            Assert.True(result == null || field.Compare(result, again!) == 0, $"{field}: the bytes around {Convert.ToHexString(key)} were read");
        }

        return result;
    }
}
