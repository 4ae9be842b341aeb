using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using Voron.Keys;

namespace Voron;

/// <content>Fields in descending order: the bytes of the ascending field with all bits inverted.</content>
public ref partial struct KeyWriter
{
    /// <summary>Like <see cref="AddNull"/>, in descending order: it sorts after <see cref="AddNotNullDescending"/>.</summary>
    /// <remarks>The value need not be descending: this marker before an ascending value sorts nulls last.</remarks>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddNullDescending() => ref WriteNull(byte.MaxValue);

    /// <summary>Like <see cref="AddNotNull"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddNotNullDescending() => ref WriteInverted<byte>(1);

    /// <summary>Like <see cref="Add(bool)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(bool value) => ref WriteInverted((byte)(value ? 1 : 0));

    /// <summary>Like <see cref="Add(sbyte)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(sbyte value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(byte)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(byte value) => ref WriteInverted(value);

    /// <summary>Like <see cref="Add(short)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(short value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(ushort)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(ushort value) => ref WriteInverted(value);

    /// <summary>Like <see cref="Add(int)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(int value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(uint)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(uint value) => ref WriteInverted(value);

    /// <summary>Like <see cref="Add(long)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(long value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(ulong)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(ulong value) => ref WriteInverted(value);

    /// <summary>Like <see cref="Add(Int128)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(Int128 value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(UInt128)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(UInt128 value) => ref WriteInverted(value);

    /// <summary>Like <see cref="Add(Half)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(Half value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(float)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(float value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(double)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(double value) => ref WriteInverted(OrderedBits.From(value));

    /// <summary>Like <see cref="Add(DateOnly)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(DateOnly value) => ref WriteInverted((uint)value.DayNumber);

    /// <summary>Like <see cref="Add(TimeOnly)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(TimeOnly value) => ref WriteInverted((ulong)value.Ticks);

    /// <summary>Like <see cref="Add(TimeSpan)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(TimeSpan value) => ref WriteInverted(OrderedBits.From(value.Ticks));

    /// <summary>Like <see cref="Add(decimal)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(decimal value)
    {
        var start = _written;
        Add(value);
        return ref Invert(start);
    }

    /// <summary>Like <see cref="Add(Guid)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(Guid value)
    {
        var start = _written;
        Add(value);
        return ref Invert(start);
    }

    /// <summary>Like <see cref="Add(DateTime)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(DateTime value) => ref WriteInverted((ulong)value.Ticks);

    /// <summary>Like <see cref="Add(DateTimeOffset)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(DateTimeOffset value)
    {
        var start = _written;
        Add(value);
        return ref Invert(start);
    }

    /// <summary>Like <see cref="Add(string)"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(string)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return ref AddDescending(value.AsSpan());
    }

    /// <inheritdoc cref="AddDescending(string)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(scoped ReadOnlySpan<char> value)
    {
        var start = _written;
        Add(value);
        return ref Invert(start);
    }

    /// <summary>Like <see cref="Add(ReadOnlySpan{byte})"/>, in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddDescending(scoped ReadOnlySpan<byte> value)
    {
        var start = _written;
        Add(value);
        return ref Invert(start);
    }

    /// <summary>Like <see cref="AddPrefix(string)"/>, for a text in descending order.</summary>
    /// <inheritdoc cref="Add(string)"/>
    [UnscopedRef]
    public ref KeyWriter AddPrefixDescending(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return ref AddPrefixDescending(value.AsSpan());
    }

    /// <inheritdoc cref="AddPrefixDescending(string)"/>
    [UnscopedRef]
    public ref KeyWriter AddPrefixDescending(scoped ReadOnlySpan<char> value)
    {
        var start = _written;
        AddPrefix(value);
        return ref Invert(start);
    }

    /// <summary>Like <see cref="AddPrefix(ReadOnlySpan{byte})"/>, for bytes in descending order.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter AddPrefixDescending(scoped ReadOnlySpan<byte> value)
    {
        var start = _written;
        AddPrefix(value);
        return ref Invert(start);
    }

    [UnscopedRef]
    private ref KeyWriter WriteInverted<T>(T bits)
        where T : unmanaged, IBinaryInteger<T> => ref Write(~bits);

    [UnscopedRef]
    private ref KeyWriter Invert(int start)
    {
        Complement.Apply(_buffer[start.._written]);
        return ref this;
    }
}
