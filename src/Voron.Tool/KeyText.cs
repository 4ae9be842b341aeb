using System.Globalization;
using System.Text;

namespace Voron.Tool;

/// <summary>Keys and values as they are written on a command line, and shown.</summary>
/// <remarks>
/// Text in UTF-8, in which <c>\xHH</c> stands for any byte, and <c>\\</c> for a backslash; or <c>hex:</c> and <c>base64:</c>. What is shown can be
/// given back.
/// </remarks>
internal static class KeyText
{
    private const string Hex = "hex:";
    private const string Base64 = "base64:";

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <exception cref="ToolException">The text is not valid.</exception>
    public static byte[] Parse(string text)
    {
        // The runtime has put it in place of bytes that are no UTF-8: another key would be meant than the one that was given.
        if (text.Contains('\uFFFD', StringComparison.Ordinal))
        {
            throw new ToolException(
                ExitCode.Usage,
                $"'{text}' has the character U+FFFD, which stands for bytes that are not UTF-8. Write \\xHH for any byte, and \\xEF\\xBF\\xBD for that character.");
        }

        try
        {
            if (text.StartsWith(Hex, StringComparison.Ordinal))
                return Convert.FromHexString(text.AsSpan(Hex.Length));
            return text.StartsWith(Base64, StringComparison.Ordinal) ? Convert.FromBase64String(text[Base64.Length..]) : ParseEscaped(text);
        }
        catch (FormatException e)
        {
            throw new ToolException(ExitCode.Usage, $"'{text}' is not valid: {e.Message}");
        }
    }

    /// <summary>Returns bytes as text, in which bytes that are no printable text are escaped.</summary>
    public static string Format(ReadOnlySpan<byte> bytes)
    {
        var text = new StringBuilder(bytes.Length);
        while (!bytes.IsEmpty)
        {
            var status = Rune.DecodeFromUtf8(bytes, out var rune, out var length);
            if (status == System.Buffers.OperationStatus.Done && rune != Rune.ReplacementChar && IsPrintable(rune))
                text.Append(rune.Value == '\\' ? "\\\\" : rune.ToString());
            else
            {
                foreach (var one in bytes[..length])
                    text.Append(CultureInfo.InvariantCulture, $"\\x{one:X2}");
            }

            bytes = bytes[length..];
        }

        // Otherwise it would be read as something else.
        var shown = text.ToString();
        return shown.StartsWith(Hex, StringComparison.Ordinal) || shown.StartsWith(Base64, StringComparison.Ordinal)
            ? string.Create(CultureInfo.InvariantCulture, $"\\x{(int)shown[0]:X2}{shown[1..]}")
            : shown;
    }

    private static bool IsPrintable(Rune rune) => Rune.GetUnicodeCategory(rune) is not (UnicodeCategory.Control or UnicodeCategory.Format
        or UnicodeCategory.OtherNotAssigned or UnicodeCategory.PrivateUse or UnicodeCategory.Surrogate
        or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);

    private static byte[] ParseEscaped(string text)
    {
        var bytes = new List<byte>();
        for (var i = 0; i < text.Length;)
        {
            var next = text.IndexOf('\\', i);
            var end = next < 0 ? text.Length : next;
            bytes.AddRange(Strict.GetBytes(text[i..end]));
            i = end;
            if (next < 0)
                break;
            if (text.AsSpan(i).StartsWith("\\\\"))
            {
                bytes.Add((byte)'\\');
                i += 2;
            }
            else if (i + 4 <= text.Length && text[i + 1] == 'x'
                && byte.TryParse(text.AsSpan(i + 2, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var value))
            {
                bytes.Add(value);
                i += 4;
            }
            else
            {
                throw new FormatException($"A backslash at index {i} must be followed by xHH or by another backslash.");
            }
        }

        return [.. bytes];
    }
}
