using System.Text.Json;
using Voron.Documents.Scanning;

namespace Voron.Documents;

/// <summary>JSON values as keys of indexes, in the order: missing, null, false, true, numbers, texts.</summary>
/// <remarks>
/// Numbers are compared as 64-bit floating-point numbers. Texts are compared by their UTF-8 bytes; an index has the first
/// <see cref="MaxTextBytes"/> of them, and the documents that it finds are compared once more.
/// </remarks>
internal static class ValueKey
{
    /// <summary>The number of bytes of a text that an index has.</summary>
    public const int MaxTextBytes = 200;

    /// <summary>The number of bytes that suffice for any key: a zero in a text takes two.</summary>
    public const int MaxBytes = 1 + 2 * MaxTextBytes + 2;

    private const byte Missing = 0;
    private const byte Null = 1;
    private const byte False = 2;
    private const byte True = 3;
    private const byte Number = 4;
    private const byte Text = 5;

    public static void WriteMissing(ref KeyWriter writer) => writer.Add(Missing);

    /// <summary>Writes the value that a reader is on.</summary>
    public static void Write(ref Utf8JsonReader value, ref KeyWriter writer)
    {
        var kind = KindOf(ref value);
        using var text = kind == ScalarKind.Text ? new JsonText(ref value) : default;
        Write(kind, kind == ScalarKind.Number ? value.GetDouble() : 0, text.Bytes, ref writer);
    }

    /// <summary>Writes a value of a query.</summary>
    public static void Write(in QueryValue value, ref KeyWriter writer) => Write(value.Kind, value.Number, value.Text, ref writer);

    /// <summary>Writes a value.</summary>
    public static void Write(ScalarKind kind, double number, scoped ReadOnlySpan<byte> text, ref KeyWriter writer)
    {
        writer.Add(ByteOf(kind));
        if (kind == ScalarKind.Number)
            writer.Add(number + 0.0); // -0 becomes 0.
        else if (kind == ScalarKind.Text)
            writer.Add(Cut(text));
    }

    /// <summary>Returns the kind of the value that a reader is on.</summary>
    public static ScalarKind KindOf(ref Utf8JsonReader value) => value.TokenType switch
    {
        JsonTokenType.Number => ScalarKind.Number,
        JsonTokenType.String => ScalarKind.Text,
        JsonTokenType.True => ScalarKind.True,
        JsonTokenType.False => ScalarKind.False,
        _ => ScalarKind.Null,
    };

    /// <summary>Writes what all values of the same type begin with.</summary>
    public static void WriteType(in QueryValue value, ref KeyWriter writer) => writer.Add(ByteOf(value.Kind));

    /// <summary>Writes the beginning of all texts that begin with a text.</summary>
    public static void WritePrefix(ReadOnlySpan<byte> text, ref KeyWriter writer) => writer.Add(Text).AddPrefix(Cut(text));

    /// <summary>Returns the part of a text that an index has.</summary>
    public static ReadOnlySpan<byte> Cut(ReadOnlySpan<byte> text) => text.Length <= MaxTextBytes ? text : text[..MaxTextBytes];

    private static byte ByteOf(ScalarKind kind) => kind switch
    {
        ScalarKind.Number => Number,
        ScalarKind.Text => Text,
        ScalarKind.True => True,
        ScalarKind.False => False,
        _ => Null,
    };
}
