namespace Voron.Tests.Keys;

/// <summary>The order of keys is that of their fields, and what is read is what was written. A failure names the seed to run again.</summary>
public sealed class KeyOrderTests
{
    public static TheoryData<string, int> FieldsAndSeeds => [.. KeyFields.All.SelectMany(type => new[] { (type.Name, 1), (type.Name, 2) })];

    public static TheoryData<int> Seeds => [1, 2, 3, 4, 5];

    [Theory]
    [MemberData(nameof(FieldsAndSeeds))]
    public void Keys_have_the_order_of_their_values(string name, int seed)
    {
        var field = KeyFields.Named(name);
        var random = new Random(seed);
        var values = Enumerable.Range(0, SuiteShare.Rounds(300)).Select(_ => field.Draw(random)).ToList();
        var ascending = values.ConvertAll(value => field.Encode(value));
        var descending = values.ConvertAll(value => field.Encode(value, descending: true));
        for (var i = 0; i < values.Count; i++)
        {
            CheckRoundTrip(field, values[i], ascending[i], descending: false);
            CheckRoundTrip(field, values[i], descending[i], descending: true);
            for (var j = 0; j < values.Count; j++)
            {
                var expected = Math.Sign(field.Compare(values[i], values[j]));
                Check(Math.Sign(ascending[i].AsSpan().SequenceCompareTo(ascending[j])) == expected, field, values[i], values[j]);
                Check(Math.Sign(descending[j].AsSpan().SequenceCompareTo(descending[i])) == expected, field, values[i], values[j]);
                Check(expected == 0 || !ascending[i].AsSpan().StartsWith(ascending[j]), field, values[i], values[j]);
                Check(expected == 0 || !descending[i].AsSpan().StartsWith(descending[j]), field, values[i], values[j]);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Keys_of_several_fields_are_ordered_field_by_field(int seed)
    {
        var random = new Random(seed);
        for (var run = 0; run < SuiteShare.Rounds(400); run++)
        {
            var shape = KeyShape.Draw(random);
            var tuples = Enumerable.Range(0, 12).Select(_ => shape.DrawTuple(random)).ToList();
            var keys = tuples.ConvertAll(tuple => shape.Encode(tuple, shape.Count));
            for (var i = 0; i < tuples.Count; i++)
            {
                shape.RequireRoundTrip(tuples[i], keys[i]);
                for (var j = 0; j < tuples.Count; j++)
                {
                    var expected = Math.Sign(shape.Compare(tuples[i], tuples[j], shape.Count));
                    Assert.True(
                        Math.Sign(keys[i].AsSpan().SequenceCompareTo(keys[j])) == expected,
                        $"{shape}: {KeyShape.Text(tuples[i])} and {KeyShape.Text(tuples[j])} are in the wrong order");
                }
            }
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void The_first_fields_are_a_prefix_of_the_keys_that_begin_with_them_and_of_no_others(int seed)
    {
        var random = new Random(seed);
        for (var run = 0; run < SuiteShare.Rounds(400); run++)
        {
            var shape = KeyShape.Draw(random);
            var tuples = Enumerable.Range(0, 12).Select(_ => shape.DrawTuple(random)).ToList();
            var first = random.Next(1, shape.Count + 1);
            foreach (var tuple in tuples)
            {
                var prefix = shape.Encode(tuple, first);
                var hasEnd = End(prefix, out var after);
                foreach (var other in tuples)
                {
                    var key = shape.Encode(other, shape.Count);
                    var begins = shape.Compare(tuple, other, first) == 0;
                    var pair = $"{shape}: {first} fields of {KeyShape.Text(tuple)} and {KeyShape.Text(other)}";
                    Assert.True(key.AsSpan().StartsWith(prefix) == begins, $"the prefix is wrong: {pair}");
                    var inRange = key.AsSpan().SequenceCompareTo(prefix) >= 0 && (!hasEnd || key.AsSpan().SequenceCompareTo(after) < 0);
                    Assert.True(inRange == begins, $"the range is wrong: {pair}");
                }
            }
        }
    }

    /// <summary>The order of texts is that of UTF-8; where surrogate pairs are concerned, it is not that of UTF-16.</summary>
    [Fact]
    public void Texts_have_the_order_of_their_code_points()
    {
        var field = KeyFields.Named("String");
        string.CompareOrdinal("\U00010000", "\uE000").Should().BeNegative("a surrogate is a smaller number than U+E000");
        field.Encode("\U00010000").AsSpan().SequenceCompareTo(field.Encode("\uE000")).Should().BePositive("the character is a greater one");

        var random = new Random(5);
        var texts = Enumerable.Range(0, 500).Select(_ => (string)field.Draw(random)).Where(text => !text.Any(char.IsSurrogate)).ToList();
        texts.Should().HaveCountGreaterThan(50);
        texts.OrderBy(text => text, StringComparer.Ordinal).Should()
            .Equal(texts.OrderBy(text => Convert.ToHexString(field.Encode(text)), StringComparer.Ordinal));
    }

    [Fact]
    public void A_text_and_its_bytes_are_the_same_field()
    {
        var field = KeyFields.Named("String");
        var bytes = KeyFields.Named("bytes");
        field.Encode("a\0é").Should().Equal(bytes.Encode("a\0é"u8.ToArray()));
        field.Encode("a\0é", descending: true).Should().Equal(bytes.Encode("a\0é"u8.ToArray(), descending: true));
    }

    [Fact]
    public void The_beginning_of_a_text_is_a_prefix_of_the_texts_that_begin_with_it()
    {
        var random = new Random(11);
        var field = KeyFields.Named("String");
        var texts = Enumerable.Range(0, 200).Select(_ => (string)field.Draw(random)).ToList();
        foreach (var start in texts.Where(text => text.Length < 6))
        {
            var ascending = new KeyWriter(new byte[4096]);
            var descending = new KeyWriter(new byte[4096]);
            ascending.Add(7).AddPrefix(start);
            descending.Add(7).AddPrefixDescending(start);
            foreach (var text in texts)
            {
                var expected = text.StartsWith(start, StringComparison.Ordinal);
                var key = new KeyWriter(new byte[4096]);
                key.Add(7).Add(text).Add(1).Written.StartsWith(ascending.Written).Should().Be(expected);
                key.Clear();
                key.Add(7).AddDescending(text).Add(1).Written.StartsWith(descending.Written).Should().Be(expected);
            }
        }
    }

    private static bool End(byte[] prefix, out byte[] end)
    {
        var key = new KeyWriter(new byte[prefix.Length]);
        foreach (var value in prefix)
            key.Add(value);
        var found = key.TryIncrement();
        end = key.Written.ToArray();
        return found;
    }

    private static void CheckRoundTrip(KeyField field, object value, byte[] key, bool descending)
    {
        var reader = new KeyReader(key);
        var read = field.Read(ref reader, descending);
        Assert.True(field.IsSame(value, read), $"{field}: {value} was read as {read}");
        Assert.True(reader.IsAtEnd && reader.Offset == key.Length && reader.Remaining.IsEmpty, $"{field}: {value} was not read to its end");
    }

    private static void Check(bool holds, KeyField field, object left, object right) =>
        Assert.True(holds, $"{field}: {left} and {right} are in the wrong order");
}
