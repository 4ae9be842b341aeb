using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>Receives the keys of a row from an <see cref="IndexFunction{TRow}"/>.</summary>
/// <remarks>
/// <para>
/// <c>Add</c> adds a key of one field; <see cref="Begin"/> begins a key of several fields. A row can have any number of keys in an index, or none; a
/// key that is added twice counts once. <see cref="KeyWriter"/> writes the same bytes for a key, so it can build ranges:
/// <c>new KeyWriter(buffer).Add("net")</c> is the key that <c>keys.Add("net")</c> adds.
/// </para>
/// <para>
/// A null value has no key, unless the function writes one with <see cref="KeyWriter.AddNull"/>. A unique index does not constrain keys with such a
/// null: any number of rows can have the same one.
/// </para>
/// <example>
/// <code>
/// static void BySource(in Package package, ref IndexKeys keys) => keys.Begin().Add(package.Source).AddDescending(package.Released);
/// </code>
/// </example>
/// </remarks>
public ref struct IndexKeys
{
    private readonly IndexKeyList? _list;
    private KeyWriter _writer;
    private bool _isOpen;

    internal IndexKeys(IndexKeyList list) => _list = list;

    /// <summary>True if the function threw because a field made its last key exceed the maximum length.</summary>
    internal readonly bool IsKeyTooLong => _isOpen && _writer.IsFull;

    /// <summary>Begins a key of several fields, which are then added to the writer.</summary>
    /// <returns>
    /// The writer of this key. The key ends when the next one is begun or added, or when the function returns; do not use the writer after that. Keep
    /// it as a reference, not as a copy: <c>ref var key = ref keys.Begin();</c>
    /// </returns>
    /// <exception cref="InvalidOperationException">This is the default value, which belongs to no table.</exception>
    [UnscopedRef]
    public ref KeyWriter Begin()
    {
        Finish();
        if (_list == null)
            throw new InvalidOperationException("This IndexKeys is `default`. Use the one passed to your index function.");
        _writer = new KeyWriter(_list.Begin(), isFixed: true);
        _isOpen = true;
        return ref _writer;
    }

    /// <summary>Adds a text as a key: its UTF-8 bytes and a terminating byte, as <see cref="KeyWriter.Add(string)"/> writes them.</summary>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    /// <exception cref="ArgumentException">The text contains an unpaired surrogate.</exception>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(string value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a text as a key, as <see cref="KeyWriter.Add(ReadOnlySpan{char})"/> writes it.</summary>
    /// <exception cref="ArgumentException">The text contains an unpaired surrogate.</exception>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(scoped ReadOnlySpan<char> value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds bytes as a key, with a terminating byte, as <see cref="KeyWriter.Add(ReadOnlySpan{byte})"/> writes them.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(scoped ReadOnlySpan<byte> value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(bool)"/> writes it.</summary>
    /// <exception cref="InvalidOperationException">
    /// The key is longer than <see cref="StorageEnvironment.MaxKeyLength"/>, or this is the default value, which belongs to no table.
    /// </exception>
    public void Add(bool value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(sbyte)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(sbyte value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(byte)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(byte value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(short)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(short value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(ushort)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(ushort value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(int)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(int value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(uint)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(uint value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(long)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(long value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(ulong)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(ulong value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(Int128)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(Int128 value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(UInt128)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(UInt128 value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(Half)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(Half value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(float)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(float value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(double)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(double value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(decimal)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(decimal value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(Guid)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(Guid value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(DateTime)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(DateTime value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(DateTimeOffset)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(DateTimeOffset value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(DateOnly)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(DateOnly value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(TimeOnly)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(TimeOnly value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Adds a value as a key, as <see cref="KeyWriter.Add(TimeSpan)"/> writes it.</summary>
    /// <inheritdoc cref="Add(bool)"/>
    public void Add(TimeSpan value)
    {
        Begin().Add(value);
        Finish();
    }

    /// <summary>Ends the last key that was begun. Called after the index function returns.</summary>
    internal void Finish()
    {
        if (!_isOpen)
            return;
        _isOpen = false;
        _list!.End(_writer.WrittenCount, _writer.HasNull);

        // A writer reference that the function has kept accepts no further field.
        _writer = new KeyWriter([], isFixed: true);
    }
}

/// <summary>Computes the keys of a row in an index: none for a row that the index leaves out, or one or several.</summary>
/// <remarks>
/// The function is the whole definition of the index, so it must depend on nothing but the row, and return the same keys for equal rows at any time.
/// The order of the keys does not matter, and a key that is added twice counts once. Changing the function requires a higher index version.
/// </remarks>
/// <typeparam name="TRow">The type of the rows.</typeparam>
/// <param name="row">The row.</param>
/// <param name="keys">Receives the keys.</param>
/// <example>
/// <code>
/// .Index("section", 1, static (in Package p, ref IndexKeys keys) => keys.Add(p.Section))
/// .Index("depends", 1, static (in Package p, ref IndexKeys keys) => { foreach (var name in p.Depends) keys.Add(name); })
/// .Index("large", 1, static (in Package p, ref IndexKeys keys) => { if (p.Size > 9999) keys.Add(p.Size); })
/// .UniqueIndex("source", 1, static (in Package p, ref IndexKeys keys) => keys.Begin().Add(p.Source).Add(p.Version))
/// </code>
/// </example>
public delegate void IndexFunction<TRow>(in TRow row, ref IndexKeys keys);
