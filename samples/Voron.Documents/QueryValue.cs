using System.Buffers;
using System.Text;
using System.Text.Json;

namespace Voron.Documents;

internal enum QueryValueKind
{
    Null,
    False,
    True,
    Number,
    Text,
}

/// <summary>A value that a query names.</summary>
internal readonly struct QueryValue
{
    private readonly byte[]? _text;

    private QueryValue(QueryValueKind kind, double number, byte[]? text)
    {
        Kind = kind;
        Number = number;
        _text = text;
    }

    public QueryValueKind Kind { get; }

    public double Number { get; }

    public ReadOnlySpan<byte> Text => _text;

    public static QueryValue OfNull() => new(QueryValueKind.Null, 0, null);

    public static QueryValue Of(bool value) => new(value ? QueryValueKind.True : QueryValueKind.False, 0, null);

    public static QueryValue Of(double value) => new(QueryValueKind.Number, value, null);

    public static QueryValue Of(string value) => new(QueryValueKind.Text, 0, Encoding.UTF8.GetBytes(value));

    /// <summary>Compares the value that a reader is on with this one; null if they are of different types.</summary>
    public int? Compare(ref Utf8JsonReader value)
    {
        switch (Kind)
        {
            case QueryValueKind.Number:
                return value.TokenType == JsonTokenType.Number ? value.GetDouble().CompareTo(Number) : null;
            case QueryValueKind.Text:
                return value.TokenType == JsonTokenType.String ? CompareText(ref value) : null;
            case QueryValueKind.Null:
                return value.TokenType == JsonTokenType.Null ? 0 : null;
            default:
                return value.TokenType == (Kind == QueryValueKind.True ? JsonTokenType.True : JsonTokenType.False) ? 0 : null;
        }
    }

    /// <summary>Returns whether the value that a reader is on is a text that begins with this one.</summary>
    public bool IsPrefixOf(ref Utf8JsonReader value)
    {
        if (value.TokenType != JsonTokenType.String)
            return false;
        if (!value.ValueIsEscaped && !value.HasValueSequence)
            return value.ValueSpan.StartsWith(Text);
        return Encoding.UTF8.GetBytes(value.GetString()!).AsSpan().StartsWith(Text);
    }

    public override string ToString() => Kind switch
    {
        QueryValueKind.Number => Number.ToString(System.Globalization.CultureInfo.InvariantCulture),
        QueryValueKind.Text => $"\"{Encoding.UTF8.GetString(Text)}\"",
        QueryValueKind.True => "true",
        QueryValueKind.False => "false",
        _ => "null",
    };

    private int CompareText(ref Utf8JsonReader value)
    {
        if (!value.ValueIsEscaped && !value.HasValueSequence)
            return value.ValueSpan.SequenceCompareTo(Text);
        var length = value.HasValueSequence ? checked((int)value.ValueSequence.Length) : value.ValueSpan.Length;
        var buffer = ArrayPool<byte>.Shared.Rent(length);
        var count = value.CopyString(buffer);
        var order = buffer.AsSpan(0, count).SequenceCompareTo(Text);
        ArrayPool<byte>.Shared.Return(buffer);
        return order;
    }
}
