namespace Voron.Keys;

/// <summary>Converts numbers to unsigned integers of the same width that have the same order, and back.</summary>
/// <remarks>
/// The sign bit of a signed integer is inverted. In a positive floating-point number, the sign bit is inverted; in a negative one, all bits are.
/// Numbers that are equal in .NET have equal bits: -0 becomes 0, and every NaN becomes the NaN constant of .NET, which sorts before all other
/// numbers, as in <see cref="double.CompareTo(double)"/>.
/// </remarks>
internal static class OrderedBits
{
    private const ushort HalfSign = 1 << 15;
    private const uint SingleSign = 1U << 31;
    private const ulong DoubleSign = 1UL << 63;

    private static readonly UInt128 WideSign = UInt128.One << 127;

    public static byte From(sbyte value) => (byte)(value ^ sbyte.MinValue);

    public static ushort From(short value) => (ushort)(value ^ short.MinValue);

    public static uint From(int value) => (uint)(value ^ int.MinValue);

    public static ulong From(long value) => (ulong)(value ^ long.MinValue);

    public static UInt128 From(Int128 value) => (UInt128)value ^ WideSign;

    public static sbyte ToSByte(byte bits) => (sbyte)(bits ^ 0x80);

    public static short ToInt16(ushort bits) => (short)(bits ^ HalfSign);

    public static int ToInt32(uint bits) => (int)(bits ^ SingleSign);

    public static long ToInt64(ulong bits) => (long)(bits ^ DoubleSign);

    public static Int128 ToInt128(UInt128 bits) => (Int128)(bits ^ WideSign);

    public static ushort From(Half value)
    {
        var bits = BitConverter.HalfToUInt16Bits(Half.IsNaN(value) ? Half.NaN : value + Half.Zero);
        return (ushort)((bits & HalfSign) != 0 ? ~bits : bits ^ HalfSign);
    }

    public static uint From(float value)
    {
        var bits = BitConverter.SingleToUInt32Bits(float.IsNaN(value) ? float.NaN : value + 0f);
        return (bits & SingleSign) != 0 ? ~bits : bits ^ SingleSign;
    }

    public static ulong From(double value)
    {
        var bits = BitConverter.DoubleToUInt64Bits(double.IsNaN(value) ? double.NaN : value + 0d);
        return (bits & DoubleSign) != 0 ? ~bits : bits ^ DoubleSign;
    }

    /// <summary>Converts bits to a number; false if they are not the bits of any number.</summary>
    public static bool TryToHalf(ushort bits, out Half value)
    {
        value = BitConverter.UInt16BitsToHalf((ushort)((bits & HalfSign) != 0 ? bits ^ HalfSign : ~bits));
        return From(value) == bits;
    }

    /// <inheritdoc cref="TryToHalf"/>
    public static bool TryToSingle(uint bits, out float value)
    {
        value = BitConverter.UInt32BitsToSingle((bits & SingleSign) != 0 ? bits ^ SingleSign : ~bits);
        return From(value) == bits;
    }

    /// <inheritdoc cref="TryToHalf"/>
    public static bool TryToDouble(ulong bits, out double value)
    {
        value = BitConverter.UInt64BitsToDouble((bits & DoubleSign) != 0 ? bits ^ DoubleSign : ~bits);
        return From(value) == bits;
    }
}
