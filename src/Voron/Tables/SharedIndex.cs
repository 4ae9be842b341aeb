using System.Collections.Concurrent;
using System.Diagnostics;

namespace Voron.Tables;

/// <summary>An index shared by several tables: one query finds the rows of all of them.</summary>
/// <remarks>
/// <para>
/// Each participating definition adds its own function with <see cref="TableDefinition{TKey, TRow}.Index(SharedIndex, IndexFunction{TRow})"/>; all of
/// these functions must write keys of the same kind. <see cref="SharedIndexQueries"/> finds the rows of all tables, and
/// <see cref="Table{TKey, TRow}.From(string)"/> those of one.
/// </para>
/// <para>
/// Immutable. Keep one in a static field, for all definitions, environments and threads. Two instances of the same name and version stand for the
/// same index.
/// </para>
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class SharedIndex
{
    private const int MaxSchemas = 1000;

    private readonly ConcurrentDictionary<string, (byte[] Bytes, TableSchema Schema)> _schemas = [];

    /// <summary>Creates a reference to a shared index.</summary>
    /// <param name="name">The name: 1 to 200 bytes in UTF-8.</param>
    /// <param name="version">
    /// The version of the keys. Raise it when one of the functions returns other keys than before: each table moves to the new version when it is
    /// evolved to its definition, and the index of the old version is deleted when its last table leaves it.
    /// </param>
    /// <exception cref="ArgumentException">The name is empty, too long, not valid text, or that of the expiry index.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The version is negative.</exception>
    public SharedIndex(string name, int version)
    {
        SchemaKeys.CheckName(name, "an index");
        ArgumentOutOfRangeException.ThrowIfNegative(version);
        RowExpiry.ThrowIfReserved(name);
        (Name, Version) = (name, version);
    }

    /// <summary>The name of the index.</summary>
    public string Name { get; }

    /// <summary>The version of the keys.</summary>
    public int Version { get; }

    /// <summary>Reads the schema of a table that has the index. Caches schemas, because most transactions read the same ones.</summary>
    /// <exception cref="CorruptionException">The bytes are not a schema.</exception>
    internal TableSchema Parse(string table, ReadOnlySpan<byte> bytes, string path)
    {
        if (_schemas.TryGetValue(table, out var known) && bytes.SequenceEqual(known.Bytes))
            return known.Schema;
        var schema = TableSchema.Parse(table, bytes, path);
        if (_schemas.Count < MaxSchemas || _schemas.ContainsKey(table))
            _schemas[table] = (bytes.ToArray(), schema);
        return schema;
    }

    /// <summary>Returns the name and the version.</summary>
    public override string ToString() => $"shared index '{Name}' version {Version}";
}
