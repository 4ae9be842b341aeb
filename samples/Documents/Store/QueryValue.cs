using System.Text;
using System.Text.Json;
using Voron.Documents.Scanning;

namespace Voron.Documents;

/// <summary>A value that a query names.</summary>
internal readonly struct QueryValue
{
    private readonly byte[]? _text;

    private QueryValue(ScalarKind kind, double number, byte[]? text)
    {
        Kind = kind;
        Number = number;
        _text = text;
    }

    public ScalarKind Kind { get; }

    public double Number { get; }

    public ReadOnlySpan<byte> Text => _text;

    public static QueryValue OfNull() => new(ScalarKind.Null, 0, null);

    public static QueryValue Of(bool value) => new(value ? ScalarKind.True : ScalarKind.False, 0, null);

    public static QueryValue Of(double value) => new(ScalarKind.Number, value, null);

    public static QueryValue Of(string value) => new(ScalarKind.Text, 0, Encoding.UTF8.GetBytes(value));

    /// <summary>Compares the value that a reader is on with this one; null if they are of different types.</summary>
    public int? Compare(ref Utf8JsonReader value)
    {
        switch (Kind)
        {
            case ScalarKind.Number:
                return value.TokenType == JsonTokenType.Number ? value.GetDouble().CompareTo(Number) : null;
            case ScalarKind.Text:
                return value.TokenType == JsonTokenType.String ? CompareText(ref value) : null;
            case ScalarKind.Null:
                return value.TokenType == JsonTokenType.Null ? 0 : null;
            default:
                return value.TokenType == (Kind == ScalarKind.True ? JsonTokenType.True : JsonTokenType.False) ? 0 : null;
        }
    }

    /// <summary>Returns whether the value that a reader is on is a text that begins with this one.</summary>
    public bool IsPrefixOf(ref Utf8JsonReader value)
    {
        if (value.TokenType != JsonTokenType.String)
            return false;
        using var text = new JsonText(ref value);
        return text.Bytes.StartsWith(Text);
    }

    public override string ToString() => Kind switch
    {
        ScalarKind.Number => Number.ToString(System.Globalization.CultureInfo.InvariantCulture),
        ScalarKind.Text => $"\"{Encoding.UTF8.GetString(Text).Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal)}\"",
        ScalarKind.True => "true",
        ScalarKind.False => "false",
        _ => "null",
    };

    private int CompareText(ref Utf8JsonReader value)
    {
        using var text = new JsonText(ref value);
        return text.Bytes.SequenceCompareTo(Text);
    }
}
