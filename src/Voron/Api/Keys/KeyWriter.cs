using System.Buffers;
using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Text.Unicode;
using Voron.Keys;

namespace Voron;

/// <summary>Writes the fields of a key one after another, so that the byte order of keys is the order of their fields.</summary>
/// <remarks>
/// <para>
/// The writer fills its caller's buffer, and allocates nothing while the key fits into it; a longer key moves to memory that the writer allocates.
/// Each field is self-delimiting, so keys are compared field by field, and the bytes of the first fields are a prefix of exactly those keys that
/// begin with these fields: <c>tree.Prefix(key.Written)</c> finds them. Each field can be in ascending or descending order. The key does not store
/// the field types: a <see cref="KeyReader"/> must read the same ones. Equal values have equal bytes, with one exception: the offset of a
/// <see cref="DateTimeOffset"/> is significant.
/// </para>
/// <para>
/// The format never changes; <c>docs/key-encoding.md</c> describes it for other languages. To pass a writer to a method, pass it by reference.
/// </para>
/// <example>
/// <code>
/// var key = new KeyWriter(stackalloc byte[64]);
/// key.Add(customerId).AddDescending(orderedAt).Add(orderNumber);
/// orders.Put(key.Written, value);
/// </code>
/// </example>
/// </remarks>
public ref partial struct KeyWriter
{
    private const int LeastGrowth = 64;

    private readonly bool _isFixed;
    private Span<byte> _buffer;
    private int _written;

    /// <summary>The length of the key up to the end of its first null marker; 0 if it has none.</summary>
    private int _firstNull;

    private bool _isFull;

    /// <summary>Begins a key in a buffer. The maximum key length is a quarter of the page size less 64 bytes: 960 bytes with 4 KiB pages.</summary>
    /// <param name="buffer">The buffer for the key. Bytes after the key may be overwritten. A longer key moves out of the buffer.</param>
    public KeyWriter(Span<byte> buffer) => _buffer = buffer;

    /// <summary>Begins a key in a buffer that it must not leave.</summary>
    internal KeyWriter(Span<byte> buffer, bool isFixed)
        : this(buffer) => _isFixed = isFixed;

    /// <summary>The key so far; valid until the key is truncated, incremented or cleared.</summary>
    public readonly ReadOnlySpan<byte> Written => _buffer[.._written];

    /// <summary>The length of the key so far, in bytes.</summary>
    public readonly int WrittenCount => _written;

    /// <summary>True if the key contains a null field.</summary>
    internal readonly bool HasNull => _firstNull != 0;

    /// <summary>True if a field has not fit into the buffer since the key was begun.</summary>
    internal readonly bool IsFull => _isFull;

    /// <summary>Begins another key in the same buffer.</summary>
    public void Clear()
    {
        _written = 0;
        _firstNull = 0;
        _isFull = false;
    }

    /// <summary>Cuts the key to its first bytes, after which other fields can follow.</summary>
    /// <param name="count">The number of bytes to keep: an earlier value of <see cref="WrittenCount"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative, or greater than <see cref="WrittenCount"/>.</exception>
    public void Truncate(int count)
    {
        if ((uint)count > (uint)_written)
            KeyErrors.ThrowNothing(count, _written);
        _written = count;
        if (_firstNull > count)
            _firstNull = 0;
    }

    /// <summary>
    /// Changes the key to the first key after all keys that begin with it: the end of a range up to and including these keys.
    /// </summary>
    /// <returns>False, with nothing changed, if no such key exists, because the key is empty or all of its bytes are 255.</returns>
    public bool TryIncrement()
    {
        var last = Written.LastIndexOfAnyExcept(byte.MaxValue);
        if (last < 0)
            return false;
        _buffer[last]++;
        _written = last + 1;
        return true;
    }

    /// <summary>Adds the marker of a field that has no value: one byte. It sorts before <see cref="AddNotNull"/>.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddNull() => ref WriteNull(0);

    /// <summary>Adds the marker of a field that could have been null: one byte. The value follows.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddNotNull() => ref Write<byte>(1);

    /// <summary>Adds a decimal: one to 16 bytes. Trailing zeros do not count: 1.0 and 1.00 have the same bytes, and are read as 1.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(decimal value)
    {
        Span<byte> field = stackalloc byte[DecimalKey.MaxBytes];
        return ref Append(field[..DecimalKey.Write(value, field)]);
    }

    /// <summary>Adds a GUID: 16 bytes, in the order of <see cref="Guid.CompareTo(Guid)"/>, which is that of its text.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(Guid value)
    {
        value.TryWriteBytes(Take(16), bigEndian: true, out _);
        return ref this;
    }

    /// <summary>
    /// Adds a point in time: eight bytes. Its <see cref="DateTime.Kind"/> is ignored, as in <see cref="DateTime.CompareTo(DateTime)"/>, and not
    /// stored: use times of one kind only, preferably UTC.
    /// </summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(DateTime value) => ref Write((ulong)value.Ticks);

    /// <summary>
    /// Adds a point in time with its offset: ten bytes. Earlier instants sort first, and of the same instant, smaller offsets. To have one key for an
    /// instant regardless of the offset, add its <see cref="DateTimeOffset.UtcDateTime"/> instead.
    /// </summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(DateTimeOffset value)
    {
        var field = Take(sizeof(ulong) + sizeof(ushort));
        BinaryPrimitives.WriteUInt64BigEndian(field, (ulong)value.UtcTicks);
        BinaryPrimitives.WriteUInt16BigEndian(field[sizeof(ulong)..], OrderedBits.From((short)value.TotalOffsetMinutes));
        return ref this;
    }

    /// <summary>
    /// Adds a text: its UTF-8 bytes and a terminating byte. U+0000 and U+0001 take two bytes. Texts sort by code point, which is the order of
    /// <see cref="string.CompareOrdinal(string, string)"/> except where a surrogate pair meets a character from U+E000 on.
    /// </summary>
    /// <returns>This writer.</returns>
    /// <exception cref="InvalidOperationException">
    /// The key is written for a table or an index, and would exceed the maximum length. It has not changed.
    /// </exception>
    /// <exception cref="ArgumentException">The text contains an unpaired surrogate. The key has not changed.</exception>
    /// <exception cref="ArgumentNullException">The text is null: see <see cref="AddNull"/>.</exception>
    [UnscopedRef]
    public ref KeyWriter Add(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return ref Add(value.AsSpan());
    }

    /// <inheritdoc cref="Add(string)"/>
    [UnscopedRef]
    public ref KeyWriter Add(scoped ReadOnlySpan<char> value)
    {
        _written += Encode(value, ends: true, nameof(value));
        return ref this;
    }

    /// <summary>
    /// Adds bytes and a terminating byte. Bytes 0 and 1 take two bytes. UTF-8 text has the same bytes here as in <see cref="Add(string)"/>.
    /// </summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(scoped ReadOnlySpan<byte> value)
    {
        _written += Encode(value, ends: true);
        return ref this;
    }

    /// <summary>
    /// Adds the beginning of a text. The key is then a prefix of all keys whose text begins with it; no further field may be added.
    /// </summary>
    /// <inheritdoc cref="Add(string)"/>
    [UnscopedRef]
    public ref KeyWriter AddPrefix(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return ref AddPrefix(value.AsSpan());
    }

    /// <inheritdoc cref="AddPrefix(string)"/>
    [UnscopedRef]
    public ref KeyWriter AddPrefix(scoped ReadOnlySpan<char> value)
    {
        _written += Encode(value, ends: false, nameof(value));
        return ref this;
    }

    /// <summary>Adds the beginning of bytes. The key is then a prefix of all keys whose bytes begin with it; no further field may be added.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddPrefix(scoped ReadOnlySpan<byte> value)
    {
        _written += Encode(value, ends: false);
        return ref this;
    }

    /// <summary>Adds bytes without a terminator, so they must be the whole key.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    internal ref KeyWriter AddRaw(scoped ReadOnlySpan<byte> value) => ref Append(value);

    /// <summary>Adds the UTF-8 bytes of a text without a terminator, so they must be the whole key.</summary>
    /// <inheritdoc cref="Add(string)"/>
    [UnscopedRef]
    internal ref KeyWriter AddRaw(scoped ReadOnlySpan<char> value)
    {
        _written += Transcode(value, ends: false, nameof(value));
        return ref this;
    }

    [UnscopedRef]
    private ref KeyWriter WriteNull(byte marker)
    {
        Take(1)[0] = marker;
        if (_firstNull == 0)
            _firstNull = _written;
        return ref this;
    }

    [UnscopedRef]
    private ref KeyWriter Write<T>(T bits)
        where T : unmanaged, IBinaryInteger<T>
    {
        // The throwing method is a default interface method, which would box the integer.
        bits.TryWriteBigEndian(Take(Unsafe.SizeOf<T>()), out _);
        return ref this;
    }

    [UnscopedRef]
    private ref KeyWriter Append(scoped ReadOnlySpan<byte> field)
    {
        field.CopyTo(Take(field.Length));
        return ref this;
    }

    private Span<byte> Take(int bytes)
    {
        if (bytes > _buffer.Length - _written)
            Grow(bytes);
        var field = _buffer.Slice(_written, bytes);
        _written += bytes;
        return field;
    }

    /// <summary>Encodes a text after the key, without changing the length of the key, and returns the number of bytes.</summary>
    private int Encode(scoped ReadOnlySpan<char> value, bool ends, string parameter) => Escape(Transcode(value, ends, parameter), ends);

    private int Encode(scoped ReadOnlySpan<byte> value, bool ends)
    {
        if (value.Length > _buffer.Length - _written)
            Grow((long)value.Length + (ends ? 1 : 0));
        value.CopyTo(_buffer[_written..]);
        return Escape(value.Length, ends);
    }

    private int Transcode(scoped ReadOnlySpan<char> value, bool ends, string parameter)
    {
        while (true)
        {
            var status = Utf8.FromUtf16(value, _buffer[_written..], out var read, out var length, replaceInvalidSequences: false);
            if (status == OperationStatus.Done)
                return length;
            if (status != OperationStatus.DestinationTooSmall)
                KeyErrors.ThrowSurrogate(read, parameter);
            Grow(Math.Max((long)value.Length + (ends ? 1 : 0), _buffer.Length - _written + 1L));
        }
    }

    // The field of that length begins at the end of the key.
    private int Escape(int length, bool ends)
    {
        while (true)
        {
            if (EscapedBytes.TryEscape(_buffer[_written..], length, ends, out var escaped))
                return (int)escaped;
            Grow(escaped, length);
        }
    }

    // Keeps the key, and the bytes of a field after it.
    private void Grow(long needed, int behind = 0)
    {
        if (_isFixed)
            Refuse(needed);
        var longer = new byte[checked((int)Math.Max(2L * _buffer.Length, _written + needed + LeastGrowth))];
        _buffer[..(_written + behind)].CopyTo(longer);
        _buffer = longer;
    }

    [DoesNotReturn]
    private void Refuse(long needed)
    {
        _isFull = true;
        KeyErrors.ThrowTooShort(_buffer.Length, _written, needed);
    }
}
