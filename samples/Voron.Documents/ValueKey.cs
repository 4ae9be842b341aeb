using System.Buffers;
using System.Text.Json;

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
        switch (value.TokenType)
        {
            case JsonTokenType.Number:
                writer.Add(Number).Add(value.GetDouble());
                break;
            case JsonTokenType.String:
                WriteText(ref value, ref writer);
                break;
            default:
                writer.Add(value.TokenType switch { JsonTokenType.True => True, JsonTokenType.False => False, _ => Null });
                break;
        }
    }

    /// <summary>Writes a value of a query.</summary>
    public static void Write(in QueryValue value, ref KeyWriter writer)
    {
        switch (value.Kind)
        {
            case QueryValueKind.Number:
                writer.Add(Number).Add(value.Number);
                break;
            case QueryValueKind.Text:
                writer.Add(Text).Add(Cut(value.Text));
                break;
            default:
                writer.Add(value.Kind switch { QueryValueKind.True => True, QueryValueKind.False => False, _ => Null });
                break;
        }
    }

    /// <summary>Writes what all values of the same type begin with.</summary>
    public static void WriteType(in QueryValue value, ref KeyWriter writer)
    {
        writer.Add(value.Kind switch
        {
            QueryValueKind.Number => Number,
            QueryValueKind.Text => Text,
            QueryValueKind.True => True,
            QueryValueKind.False => False,
            _ => Null,
        });
    }

    /// <summary>Writes the beginning of all texts that begin with a text.</summary>
    public static void WritePrefix(ReadOnlySpan<byte> text, ref KeyWriter writer) => writer.Add(Text).AddPrefix(Cut(text));

    private static ReadOnlySpan<byte> Cut(ReadOnlySpan<byte> text) => text.Length <= MaxTextBytes ? text : text[..MaxTextBytes];

    private static void WriteText(ref Utf8JsonReader value, ref KeyWriter writer)
    {
        if (!value.HasValueSequence && !value.ValueIsEscaped)
        {
            writer.Add(Text).Add(Cut(value.ValueSpan));
            return;
        }

        var length = value.HasValueSequence ? checked((int)value.ValueSequence.Length) : value.ValueSpan.Length;
        var buffer = ArrayPool<byte>.Shared.Rent(length);
        var count = value.CopyString(buffer);
        writer.Add(Text).Add(Cut(buffer.AsSpan(0, count)));
        ArrayPool<byte>.Shared.Return(buffer);
    }
}
