using System.Text;

namespace Voron.Trees;

/// <summary>Formats keys for messages.</summary>
internal static class KeyText
{
    private const int MaxBytes = 32;

    /// <summary>
    /// Returns a key as quoted text if all bytes are printable ASCII, otherwise in hexadecimal; a long key is truncated.
    /// </summary>
    public static string Of(ReadOnlySpan<byte> key)
    {
        var shown = key[..Math.Min(key.Length, MaxBytes)];
        var text = shown.ContainsAnyExceptInRange((byte)' ', (byte)'~') ? "0x" + Convert.ToHexString(shown) : $"'{Encoding.ASCII.GetString(shown)}'";
        return shown.Length == key.Length ? text : $"{text}... ({key.Length} bytes)";
    }
}
