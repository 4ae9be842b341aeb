using System.Buffers;
using System.Globalization;
using System.Text;

namespace Voron.Trees;

/// <summary>Formats keys, values and tree names for messages, logs and debuggers.</summary>
internal static class KeyText
{
    private const int MaxBytes = 32;

    /// <summary>
    /// Returns bytes as quoted text if they are printable UTF-8, otherwise in hexadecimal. At most the first 32 bytes are examined and shown; if
    /// there are more, the total number of bytes follows.
    /// </summary>
    public static string Of(ReadOnlySpan<byte> bytes)
    {
        var shown = bytes[..Math.Min(bytes.Length, MaxBytes)];
        var printable = PrintableLength(shown, isCut: shown.Length < bytes.Length);
        if (printable >= 0)
            shown = shown[..printable];
        var text = printable >= 0 ? $"'{Encoding.UTF8.GetString(shown)}'" : "0x" + Convert.ToHexString(shown);
        return shown.Length == bytes.Length ? text : $"{text}... ({bytes.Length} bytes)";
    }

    /// <summary>Formats a key of fields. If its only field is a text, the terminator of that text is omitted.</summary>
    public static string OfFields(ReadOnlySpan<byte> key)
    {
        var text = key is [.., _, 0] ? Of(key[..^1]) : "";
        return text.StartsWith('\'') ? text : Of(key);
    }

    // Returns the number of bytes to show as text, without a truncated character at the end; -1 if the bytes are not printable.
    private static int PrintableLength(ReadOnlySpan<byte> bytes, bool isCut)
    {
        var length = 0;
        while (length < bytes.Length)
        {
            var status = Rune.DecodeFromUtf8(bytes[length..], out var character, out var count);
            if (status == OperationStatus.NeedMoreData && isCut && length > 0)
                return length;
            if (status != OperationStatus.Done || !IsPrintable(character))
                return -1;
            length += count;
        }

        return length;
    }

    private static bool IsPrintable(Rune character) => Rune.GetUnicodeCategory(character) is not (
        UnicodeCategory.Control or UnicodeCategory.Format or UnicodeCategory.Surrogate or UnicodeCategory.PrivateUse
        or UnicodeCategory.OtherNotAssigned or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);
}
