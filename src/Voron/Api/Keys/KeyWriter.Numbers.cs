using System.Diagnostics.CodeAnalysis;
using Voron.Keys;

namespace Voron;

/// <content>Fields of fixed length in ascending order.</content>
public ref partial struct KeyWriter
{
    /// <summary>Adds a truth value: one byte, false before true.</summary>
    /// <returns>This writer.</returns>
    /// <exception cref="InvalidOperationException">
    /// The key is written for a table or an index, and would exceed the maximum length. It has not changed.
    /// </exception>
    [UnscopedRef]
    public ref KeyWriter Add(bool value) => ref Write((byte)(value ? 1 : 0));

    /// <summary>Adds a signed integer: one byte.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(sbyte value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds an unsigned integer: one byte.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(byte value) => ref Write(value);

    /// <summary>Adds a signed integer: two bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(short value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds an unsigned integer: two bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(ushort value) => ref Write(value);

    /// <summary>Adds a signed integer: four bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(int value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds an unsigned integer: four bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(uint value) => ref Write(value);

    /// <summary>Adds a signed integer: eight bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(long value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds an unsigned integer: eight bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(ulong value) => ref Write(value);

    /// <summary>Adds a signed integer: 16 bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(Int128 value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds an unsigned integer: 16 bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(UInt128 value) => ref Write(value);

    /// <summary>Adds a floating-point number: two bytes. -0 becomes 0, and every NaN the same NaN, which sorts first.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(Half value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds a floating-point number: four bytes. -0 becomes 0, and every NaN the same NaN, which sorts first.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(float value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds a floating-point number: eight bytes. -0 becomes 0, and every NaN the same NaN, which sorts first.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(double value) => ref Write(OrderedBits.From(value));

    /// <summary>Adds a date: four bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(DateOnly value) => ref Write((uint)value.DayNumber);

    /// <summary>Adds a time of day: eight bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(TimeOnly value) => ref Write((ulong)value.Ticks);

    /// <summary>Adds an interval: eight bytes.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    [UnscopedRef]
    public ref KeyWriter Add(TimeSpan value) => ref Write(OrderedBits.From(value.Ticks));
}
