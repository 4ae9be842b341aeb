using System.Diagnostics.CodeAnalysis;

namespace Voron.Keys;

/// <summary>Throws the exceptions for keys that do not fit, and for keys that cannot be read.</summary>
internal static class KeyErrors
{
    [DoesNotReturn]
    public static void ThrowTooShort(int capacity, int written, long needed) => throw new InvalidOperationException(
        $"The key would be longer than {capacity} bytes, the most that it can have: {written} are written, and the next field needs at least {needed}.");

    [DoesNotReturn]
    public static void ThrowSurrogate(int index, string parameter) => throw new ArgumentException(
        $"The text has half of a surrogate pair at index {index}, which UTF-8 cannot represent.", parameter);

    [DoesNotReturn]
    public static void ThrowNothing(int count, int written) => throw new ArgumentOutOfRangeException(
        nameof(count), count, $"The key can only be cut to a length from 0 to {written} bytes, its current length.");

    [DoesNotReturn]
    public static void ThrowEnd(int offset, int length, string field) => throw new FormatException(
        $"The key of {length} bytes ends within the {field} at offset {offset}. It has other fields than those read, or is damaged.");

    [DoesNotReturn]
    public static void ThrowMalformed(int offset, string field) => throw new FormatException(
        $"The bytes at offset {offset} of the key are those of no {field}. It has other fields than those read, or is damaged.");

    [DoesNotReturn]
    public static void ThrowDestination(int needed, int length, string parameter) => throw new ArgumentException(
        $"The destination has room for {length} elements, but the field has {needed}. Nothing was read.", parameter);
}
