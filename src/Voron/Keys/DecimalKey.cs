using System.Diagnostics;
using System.Globalization;

namespace Voron.Keys;

/// <summary>Encodes decimals so that their byte order is their value order. Equal values have equal bytes, such as 1.0 and 1.00.</summary>
/// <remarks>
/// A positive value is written as 0.D1D2...Dn times 10 to the power of e, where neither D1 nor Dn is 0. Its first byte is 156 + e. The digits follow
/// in pairs, the last one padded with 0: each pair is a byte of twice its value, plus 1 if another pair follows. Zero is the single byte 128. A
/// negative value is the complement of all bytes of its absolute value.
/// </remarks>
internal static class DecimalKey
{
    /// <summary>The maximum number of bytes of a decimal.</summary>
    public const int MaxBytes = 1 + MaxPairs;

    private const int MaxPairs = (MaxDigits + 1) / 2;
    private const int MaxDigits = 29;
    private const int MaxScale = 28;
    private const byte Zero = 0x80;
    private const int ExponentBias = 156;
    private const int MinExponent = -27;
    private const int MaxExponent = 29;

    private static readonly UInt128 MaxCoefficient = (UInt128.One << 96) - 1;

    /// <summary>Encodes a value, and returns the number of bytes.</summary>
    public static int Write(decimal value, Span<byte> destination)
    {
        Span<int> parts = stackalloc int[4];
        decimal.GetBits(value, parts);
        var coefficient = new UInt128((uint)parts[2], ((ulong)(uint)parts[1] << 32) | (uint)parts[0]);
        if (coefficient == 0)
        {
            destination[0] = Zero;
            return 1;
        }

        Span<byte> digits = stackalloc byte[MaxDigits];
        var fits = coefficient.TryFormat(digits, out var count, default, CultureInfo.InvariantCulture);
        Debug.Assert(fits, "A decimal must have at most 29 digits.");
        destination[0] = (byte)(ExponentBias + count - ((parts[3] >> 16) & 0xFF));
        count = digits[..count].LastIndexOfAnyExcept((byte)'0') + 1;
        var length = 1;
        for (var i = 0; i < count; i += 2)
        {
            var pair = 10 * (digits[i] - '0') + (i + 1 < count ? digits[i + 1] - '0' : 0);
            destination[length++] = (byte)(2 * pair + (i + 2 < count ? 1 : 0));
        }

        if (parts[3] < 0)
            Complement.Apply(destination[..length]);
        return length;
    }

    /// <summary>Decodes a value, and returns the number of bytes; 0 if they are not a decimal, -1 if bytes are missing.</summary>
    /// <param name="source">The bytes of the value, and any bytes after them.</param>
    /// <param name="mask">Combined with each byte by an exclusive or: 255 for a descending field, otherwise 0.</param>
    /// <param name="value">The value.</param>
    public static int Read(ReadOnlySpan<byte> source, byte mask, out decimal value)
    {
        value = 0;
        if (source.IsEmpty)
            return -1;
        var first = (byte)(source[0] ^ mask);
        if (first == Zero)
            return 1;
        var isNegative = first < Zero;
        if (isNegative)
            mask ^= 0xFF;
        var exponent = (source[0] ^ mask) - ExponentBias;
        if (exponent is < MinExponent or > MaxExponent)
            return 0;

        UInt128 coefficient = 0;
        var last = 0;
        var length = 1;
        for (var more = true; more; length++)
        {
            if (length == source.Length)
                return -1;
            last = (source[length] ^ mask) >> 1;
            more = ((source[length] ^ mask) & 1) != 0;
            if (last > 99 || (length == 1 && last < 10) || (!more && last == 0) || (more && length == MaxPairs))
                return 0;
            coefficient = 100 * coefficient + (uint)last;
        }

        var digits = 2 * (length - 1);
        if (last % 10 == 0)
        {
            coefficient /= 10;
            digits--;
        }

        return TryMake(coefficient, digits - exponent, isNegative, out value) ? length : 0;
    }

    /// <summary>Makes a decimal from a coefficient without trailing zeros, and a scale that may be negative.</summary>
    private static bool TryMake(UInt128 coefficient, int scale, bool isNegative, out decimal value)
    {
        value = 0;
        for (; scale < 0; scale++)
            coefficient *= 10;
        if (scale > MaxScale || coefficient > MaxCoefficient)
            return false;
        value = new decimal((int)(uint)coefficient, (int)(uint)(coefficient >> 32), (int)(uint)(coefficient >> 64), isNegative, (byte)scale);
        return true;
    }
}
