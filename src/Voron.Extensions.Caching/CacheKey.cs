using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

namespace Voron.Extensions.Caching;

/// <summary>
/// Makes keys of the tree from keys of the cache: the text in UTF-8, or its hash if it is too long or is no valid text. A first byte tells the
/// three apart, so that no text has the key of another.
/// </summary>
internal static class CacheKey
{
    /// <summary>The longest key of a tree. It leaves room for the time in the index with the smallest pages.</summary>
    public const int MaxLength = 512;

    private const byte Text = 0;
    private const byte HashOfText = 1;
    private const byte HashOfUnits = 2;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Writes the key of an entry.</summary>
    /// <param name="key">The key that the application uses.</param>
    /// <param name="buffer">At least <see cref="MaxLength"/> bytes.</param>
    /// <returns>The part of the buffer that holds the key.</returns>
    public static ReadOnlySpan<byte> Write(string key, Span<byte> buffer)
    {
        try
        {
            if (Strict.TryGetBytes(key, buffer[1..MaxLength], out var written))
            {
                buffer[0] = Text;
                return buffer[..(written + 1)];
            }

            buffer[0] = HashOfText;
            return buffer[..(SHA256.HashData(Strict.GetBytes(key), buffer[1..]) + 1)];
        }
        catch (EncoderFallbackException)
        {
            // Unpaired surrogates have no UTF-8. Two such keys must stay two.
            buffer[0] = HashOfUnits;
            return buffer[..(SHA256.HashData(MemoryMarshal.AsBytes(key.AsSpan()), buffer[1..]) + 1)];
        }
    }
}
