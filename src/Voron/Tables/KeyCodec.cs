using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>Codecs for the primary keys of tables.</summary>
/// <remarks>
/// Numbers and times have the bytes that <see cref="KeyWriter"/> writes for them. Text and bytes are stored as they are, without a terminator,
/// because they are the whole key: <c>KeyRange.Prefix("lib"u8)</c> is the range of all texts that begin with these letters.
/// </remarks>
[SuppressMessage("Naming", "CA1720", Justification = "A codec has the name of the type of its keys.")]
public static class KeyCodec
{
    /// <summary>UTF-8 text, in code point order. It must have at least one character, and no unpaired surrogate.</summary>
    public static IKeyCodec<string> Utf8 { get; } = new FunctionCodec<string>("utf8", static (key, ref writer) =>
    {
        ArgumentNullException.ThrowIfNull(key);
        writer.AddRaw(key);
    });

    /// <summary>Bytes as they are, at least one, compared as unsigned numbers. Byte arrays can be passed as keys.</summary>
    public static IKeyCodec<ReadOnlyMemory<byte>> Bytes { get; } =
        new FunctionCodec<ReadOnlyMemory<byte>>("bytes", static (key, ref writer) => writer.AddRaw(key.Span));

    /// <summary>Signed integers: four bytes.</summary>
    public static IKeyCodec<int> Int32 { get; } = new FunctionCodec<int>("int32", static (key, ref writer) => writer.Add(key));

    /// <summary>Signed integers: eight bytes. A table whose keys are its row ids needs no codec.</summary>
    public static IKeyCodec<long> Int64 { get; } = new FunctionCodec<long>("int64", static (key, ref writer) => writer.Add(key));

    /// <summary>Unsigned integers: four bytes.</summary>
    public static IKeyCodec<uint> UInt32 { get; } = new FunctionCodec<uint>("uint32", static (key, ref writer) => writer.Add(key));

    /// <summary>Unsigned integers: eight bytes.</summary>
    public static IKeyCodec<ulong> UInt64 { get; } = new FunctionCodec<ulong>("uint64", static (key, ref writer) => writer.Add(key));

    /// <summary>GUIDs: 16 bytes, in the order of their text. Version 7 GUIDs sort in the order of their creation.</summary>
    public static IKeyCodec<Guid> Guid { get; } = new FunctionCodec<Guid>("guid", static (key, ref writer) => writer.Add(key));

    /// <summary>
    /// Points in time: eight bytes. Their <see cref="System.DateTime.Kind"/> is not part of the key: use times of one kind only, preferably UTC.
    /// </summary>
    public static IKeyCodec<DateTime> DateTime { get; } = new FunctionCodec<DateTime>("datetime", static (key, ref writer) => writer.Add(key));

    /// <summary>Points in time with their offset: ten bytes. The same instant with another offset is another key, right next to it.</summary>
    public static IKeyCodec<DateTimeOffset> DateTimeOffset { get; } =
        new FunctionCodec<DateTimeOffset>("datetimeoffset", static (key, ref writer) => writer.Add(key));

    /// <summary>Creates a codec for keys of another type, for example keys of several fields.</summary>
    /// <typeparam name="TKey">The type of the keys.</typeparam>
    /// <param name="name">The name of the encoding, which is stored with the table: see <see cref="IKeyCodec{TKey}.Name"/>.</param>
    /// <param name="write">Writes a key. It must depend on nothing but the key.</param>
    /// <exception cref="ArgumentNullException">The name or the function is null.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space, or that of a codec of this class.</exception>
    /// <example>
    /// <code>
    /// KeyCodec.Create&lt;(string Store, int Number)&gt;("store/number", static (key, ref writer) => writer.Add(key.Store).Add(key.Number))
    /// </code>
    /// </example>
    public static IKeyCodec<TKey> Create<TKey>(string name, KeyFunction<TKey> write)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentNullException.ThrowIfNull(write);
        if (name is "utf8" or "bytes" or "int32" or "int64" or "uint32" or "uint64" or "guid" or "datetime" or "datetimeoffset")
            throw new ArgumentException($"'{name}' is the name of a codec of {nameof(KeyCodec)}. Choose another one.", nameof(name));
        return new FunctionCodec<TKey>(name, write);
    }

    private sealed class FunctionCodec<TKey>(string name, KeyFunction<TKey> write) : IKeyCodec<TKey>
    {
        public string Name => name;

        public void Write(TKey key, ref KeyWriter writer) => write(key, ref writer);

        public override string ToString() => name;
    }
}

/// <summary>Writes a key as fields, which determine the order of the keys: see <see cref="IKeyCodec{TKey}.Write"/>.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <param name="key">The key.</param>
/// <param name="writer">An empty writer.</param>
public delegate void KeyFunction<TKey>(TKey key, ref KeyWriter writer);
