using System.Text;

namespace Voron.Trees;

/// <summary>A key as messages show it.</summary>
internal static class KeyText
{
    private const int MaxBytes = 32;

    /// <summary>As text in quotes when all bytes are printable ASCII, else in hexadecimal; a long key is cut.</summary>
    public static string Of(ReadOnlySpan<byte> key)
    {
        var shown = key[..Math.Min(key.Length, MaxBytes)];
        var text = shown.ContainsAnyExceptInRange((byte)' ', (byte)'~') ? "0x" + Convert.ToHexString(shown) : $"'{Encoding.ASCII.GetString(shown)}'";
        return shown.Length == key.Length ? text : $"{text}... ({key.Length} bytes)";
    }
}
