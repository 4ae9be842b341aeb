namespace Voron.Tests.Keys;

/// <summary>The fields of a kind of key, some of them descending, some of them with a marker for null.</summary>
internal sealed class KeyShape
{
    private readonly List<(KeyField Field, bool Descending, bool Nullable)> _fields = [];

    public int Count => _fields.Count;

    public static KeyShape Draw(Random random)
    {
        var shape = new KeyShape();
        for (var i = random.Next(1, 7); i > 0; i--)
            shape._fields.Add((KeyFields.All[random.Next(KeyFields.All.Count)], random.Next(2) == 0, random.Next(4) == 0));
        return shape;
    }

    public object?[] DrawTuple(Random random) => _fields
        .Select(field => field.Nullable && random.Next(3) == 0 ? null : random.Next(4) > 0 ? field.Field.DrawOfFew(random) : field.Field.Draw(random))
        .ToArray();

    /// <summary>Returns the key of the first fields.</summary>
    public byte[] Encode(object?[] tuple, int count)
    {
        var key = new KeyWriter(new byte[16 << 10]);
        for (var i = 0; i < count; i++)
        {
            var (field, descending, nullable) = _fields[i];
            if (nullable && descending)
                _ = tuple[i] == null ? key.AddNullDescending() : key.AddNotNullDescending();
            else if (nullable)
                _ = tuple[i] == null ? key.AddNull() : key.AddNotNull();
            if (tuple[i] is { } value)
                field.Add(ref key, value, descending);
        }

        return key.Written.ToArray();
    }

    public void RequireRoundTrip(object?[] tuple, byte[] key)
    {
        var reader = new KeyReader(key);
        for (var i = 0; i < Count; i++)
        {
            var (field, descending, nullable) = _fields[i];
            var isNull = nullable && (descending ? reader.TryReadNullDescending() : reader.TryReadNull());
            var read = isNull ? null : field.Read(ref reader, descending);
            var isSame = tuple[i] is { } value ? read != null && field.IsSame(value, read) : read == null;
            Assert.True(isSame, $"{this}: field {i} of {Text(tuple)} was read as {read ?? "null"}");
        }

        Assert.True(reader.IsAtEnd, $"{this}: {Text(tuple)} was not read to its end");
    }

    /// <summary>Compares the first fields; a null comes first, or last in a descending field.</summary>
    public int Compare(object?[] left, object?[] right, int count)
    {
        for (var i = 0; i < count; i++)
        {
            var order = (left[i], right[i]) switch
            {
                (null, null) => 0,
                (null, _) => -1,
                (_, null) => 1,
                var (a, b) => _fields[i].Field.Compare(a, b),
            };
            if (order != 0)
                return _fields[i].Descending ? -order : order;
        }

        return 0;
    }

    public static string Text(object?[] tuple) =>
        $"({string.Join(", ", tuple.Select(value => value is byte[] bytes ? Convert.ToHexString(bytes) : value ?? "null"))})";

    public override string ToString() =>
        string.Join(" ", _fields.Select(field => $"{field.Field}{(field.Nullable ? "?" : "")}{(field.Descending ? " descending" : "")}"));
}
