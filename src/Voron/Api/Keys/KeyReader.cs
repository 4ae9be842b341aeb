using System.Buffers;
using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Unicode;
using Voron.Keys;
using Voron.Primitives;

namespace Voron;

/// <summary>Reads the fields of a key that a <see cref="KeyWriter"/> has written, in the same order and as the same types.</summary>
/// <remarks>
/// The key does not store the types: a field read as a different type yields a different value, or throws a <see cref="FormatException"/> that names
/// the offset. A read that throws does not move the reader. To pass a reader to a method, pass it by reference.
/// <example>
/// <code>
/// var key = new KeyReader(entry.Key);
/// var customerId = key.ReadInt64();
/// var orderedAt = key.ReadDateTimeDescending(DateTimeKind.Utc);
/// </code>
/// </example>
/// </remarks>
public ref partial struct KeyReader
{
    private const byte Ascending = 0;
    private const byte Descending = 0xFF;
    private const int StackBytes = 512;

    private readonly ReadOnlySpan<byte> _key;
    private int _offset;

    /// <summary>Begins to read a key.</summary>
    /// <param name="key">The key, which must not change while it is read.</param>
    public KeyReader(ReadOnlySpan<byte> key) => _key = key;

    /// <summary>True if all fields have been read.</summary>
    public readonly bool IsAtEnd => _offset == _key.Length;

    /// <summary>The offset in bytes at which the next field begins.</summary>
    public readonly int Offset => _offset;

    /// <summary>The bytes of the fields not yet read.</summary>
    public readonly ReadOnlySpan<byte> Remaining => _key[_offset..];

    /// <summary>Reads the marker of a nullable field: true if it is null; false if its value follows.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public bool TryReadNull() => !DecodeFlag("null marker", Ascending);

    /// <summary>Like <see cref="TryReadNull"/>, for a marker in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public bool TryReadNullDescending() => !DecodeFlag("null marker", Descending);

    /// <summary>Reads a point in time.</summary>
    /// <param name="kind">The kind of the result, which the key does not store.</param>
    /// <exception cref="ArgumentException">There is no such kind.</exception>
    /// <inheritdoc cref="ReadBoolean"/>
    public DateTime ReadDateTime(DateTimeKind kind = DateTimeKind.Unspecified) => DecodeDateTime(kind, Ascending);

    /// <summary>Reads a point in time in descending order.</summary>
    /// <inheritdoc cref="ReadDateTime"/>
    public DateTime ReadDateTimeDescending(DateTimeKind kind = DateTimeKind.Unspecified) => DecodeDateTime(kind, Descending);

    /// <summary>Reads a text.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public string ReadString() => DecodeString(Ascending);

    /// <summary>Reads a text in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public string ReadStringDescending() => DecodeString(Descending);

    /// <summary>Reads a text into a buffer.</summary>
    /// <returns>The number of characters.</returns>
    /// <exception cref="ArgumentException">The buffer is too short. The reader has not moved.</exception>
    /// <inheritdoc cref="ReadBoolean"/>
    public int ReadString(Span<char> destination) => DecodeString(destination, Ascending);

    /// <summary>Reads a text in descending order into a buffer.</summary>
    /// <inheritdoc cref="ReadString(Span{char})"/>
    public int ReadStringDescending(Span<char> destination) => DecodeString(destination, Descending);

    /// <summary>Reads bytes.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public byte[] ReadBytes() => DecodeBytes(Ascending);

    /// <summary>Reads bytes in descending order.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public byte[] ReadBytesDescending() => DecodeBytes(Descending);

    /// <summary>Reads bytes into a buffer.</summary>
    /// <returns>The number of bytes.</returns>
    /// <exception cref="ArgumentException">The buffer is too short. The reader has not moved.</exception>
    /// <inheritdoc cref="ReadBoolean"/>
    public int ReadBytes(Span<byte> destination) => DecodeBytes(destination, Ascending);

    /// <summary>Reads bytes in descending order into a buffer.</summary>
    /// <inheritdoc cref="ReadBytes(Span{byte})"/>
    public int ReadBytesDescending(Span<byte> destination) => DecodeBytes(destination, Descending);

    /// <summary>Skips a text field or a byte field without decoding it.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public void SkipString() => _offset += Measure("text", Ascending, out _);

    /// <summary>Skips a text field or a byte field in descending order without decoding it.</summary>
    /// <inheritdoc cref="ReadBoolean"/>
    public void SkipStringDescending() => _offset += Measure("text", Descending, out _);

    /// <summary>Reads an integer of a type for which every bit pattern is valid.</summary>
    private T Read<T>(string field, byte mask)
        where T : unmanaged, IBinaryInteger<T>
    {
        var bits = Peek<T>(field, mask);
        _offset += Unsafe.SizeOf<T>();
        return bits;
    }

    private readonly T Peek<T>(string field, byte mask, int at = 0)
        where T : unmanaged, IBinaryInteger<T>
    {
        var rest = Remaining;
        if (rest.Length - at < Unsafe.SizeOf<T>())
            KeyErrors.ThrowEnd(_offset, _key.Length, field);
        var bits = T.ReadBigEndian(rest.Slice(at, Unsafe.SizeOf<T>()), isUnsigned: true);
        return mask == Ascending ? bits : ~bits;
    }

    private bool DecodeFlag(string field, byte mask)
    {
        var bits = Peek<byte>(field, mask);
        if (bits > 1)
            KeyErrors.ThrowMalformed(_offset, field);
        _offset++;
        return bits != 0;
    }

    private bool DecodeBoolean(byte mask) => DecodeFlag("Boolean", mask);

    private Half DecodeHalf(byte mask)
    {
        if (!OrderedBits.TryToHalf(Peek<ushort>("Half", mask), out var value))
            KeyErrors.ThrowMalformed(_offset, "Half");
        _offset += sizeof(ushort);
        return value;
    }

    private float DecodeSingle(byte mask)
    {
        if (!OrderedBits.TryToSingle(Peek<uint>("Single", mask), out var value))
            KeyErrors.ThrowMalformed(_offset, "Single");
        _offset += sizeof(float);
        return value;
    }

    private double DecodeDouble(byte mask)
    {
        if (!OrderedBits.TryToDouble(Peek<ulong>("Double", mask), out var value))
            KeyErrors.ThrowMalformed(_offset, "Double");
        _offset += sizeof(double);
        return value;
    }

    private decimal DecodeDecimal(byte mask)
    {
        var length = DecimalKey.Read(Remaining, mask, out var value);
        if (length < 0)
            KeyErrors.ThrowEnd(_offset, _key.Length, "Decimal");
        if (length == 0)
            KeyErrors.ThrowMalformed(_offset, "Decimal");
        _offset += length;
        return value;
    }

    private Guid DecodeGuid(byte mask)
    {
        Span<byte> bytes = stackalloc byte[16];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, Read<UInt128>("Guid", mask));
        return new Guid(bytes, bigEndian: true);
    }

    private DateOnly DecodeDateOnly(byte mask)
    {
        var day = Peek<uint>("DateOnly", mask);
        if (day > (uint)DateOnly.MaxValue.DayNumber)
            KeyErrors.ThrowMalformed(_offset, "DateOnly");
        _offset += sizeof(uint);
        return DateOnly.FromDayNumber((int)day);
    }

    private TimeOnly DecodeTimeOnly(byte mask)
    {
        var ticks = Peek<ulong>("TimeOnly", mask);
        if (ticks > (ulong)TimeOnly.MaxValue.Ticks)
            KeyErrors.ThrowMalformed(_offset, "TimeOnly");
        _offset += sizeof(ulong);
        return new TimeOnly((long)ticks);
    }

    private DateTime DecodeDateTime(DateTimeKind kind, byte mask)
    {
        var earliest = new DateTime(0, kind);
        var ticks = Peek<ulong>("DateTime", mask);
        if (ticks > (ulong)DateTime.MaxValue.Ticks)
            KeyErrors.ThrowMalformed(_offset, "DateTime");
        _offset += sizeof(ulong);
        return earliest.AddTicks((long)ticks);
    }

    private DateTimeOffset DecodeDateTimeOffset(byte mask)
    {
        const int maxMinutes = 14 * 60;
        var minutes = OrderedBits.ToInt16(Peek<ushort>("DateTimeOffset", mask, sizeof(ulong)));
        var ticks = Peek<ulong>("DateTimeOffset", mask);
        var local = ticks + (ulong)(minutes * TimeSpan.TicksPerMinute);
        if (minutes is < -maxMinutes or > maxMinutes || ticks > (ulong)DateTime.MaxValue.Ticks || local > (ulong)DateTime.MaxValue.Ticks)
            KeyErrors.ThrowMalformed(_offset, "DateTimeOffset");
        _offset += sizeof(ulong) + sizeof(ushort);
        return new DateTimeOffset((long)local, TimeSpan.FromMinutes(minutes));
    }

    /// <summary>Returns the length of a text or byte field with its terminator, and that of its content.</summary>
    private readonly int Measure(string field, byte mask, out int decoded)
    {
        var length = EscapedBytes.Measure(Remaining, mask, out decoded, out var fault);
        if (fault >= 0)
            KeyErrors.ThrowMalformed(_offset + fault, field);
        if (length == 0)
            KeyErrors.ThrowEnd(_offset, _key.Length, field);
        return length;
    }

    private string DecodeString(byte mask)
    {
        var length = Measure("text", mask, out var decoded);
        var rented = decoded > StackBytes ? ArrayPool<byte>.Shared.Rent(decoded) : null;
        var utf8 = rented != null ? rented.AsSpan(0, decoded) : (stackalloc byte[StackBytes])[..decoded];
        EscapedBytes.Decode(_key.Slice(_offset, length - 1), mask, utf8);
        var text = Utf8Text.Read(utf8);
        if (rented != null)
            ArrayPool<byte>.Shared.Return(rented);
        if (text == null)
            KeyErrors.ThrowMalformed(_offset, "text");
        _offset += length;
        return text;
    }

    private int DecodeString(Span<char> destination, byte mask)
    {
        var length = Measure("text", mask, out var decoded);
        var rented = decoded > StackBytes ? ArrayPool<byte>.Shared.Rent(decoded) : null;
        var utf8 = rented != null ? rented.AsSpan(0, decoded) : (stackalloc byte[StackBytes])[..decoded];
        EscapedBytes.Decode(_key.Slice(_offset, length - 1), mask, utf8);
        var characters = Utf8.IsValid(utf8) ? Encoding.UTF8.GetCharCount(utf8) : -1;
        if (characters >= 0 && characters <= destination.Length)
            Encoding.UTF8.GetChars(utf8, destination);
        if (rented != null)
            ArrayPool<byte>.Shared.Return(rented);
        if (characters < 0)
            KeyErrors.ThrowMalformed(_offset, "text");
        if (characters > destination.Length)
            KeyErrors.ThrowDestination(characters, destination.Length, nameof(destination));
        _offset += length;
        return characters;
    }

    private byte[] DecodeBytes(byte mask)
    {
        var length = Measure("byte string", mask, out var decoded);
        var bytes = new byte[decoded];
        EscapedBytes.Decode(_key.Slice(_offset, length - 1), mask, bytes);
        _offset += length;
        return bytes;
    }

    private int DecodeBytes(Span<byte> destination, byte mask)
    {
        var length = Measure("byte string", mask, out var decoded);
        if (decoded > destination.Length)
            KeyErrors.ThrowDestination(decoded, destination.Length, nameof(destination));
        EscapedBytes.Decode(_key.Slice(_offset, length - 1), mask, destination[..decoded]);
        _offset += length;
        return decoded;
    }
}
