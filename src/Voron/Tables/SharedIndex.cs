using System.Collections.Concurrent;
using System.Diagnostics;

namespace Voron.Tables;

/// <summary>An index that several tables share: one answer for the rows of all of them.</summary>
/// <remarks>
/// <para>
/// Each definition that takes part adds its own function with <see cref="TableDefinition{TKey, TRow}.Index(SharedIndex, IndexFunction{TRow})"/>; the
/// functions of all tables must write keys of one kind. <see cref="SharedIndexQueries"/> finds the rows of all tables, and
/// <see cref="Table{TKey, TRow}.From(string)"/> those of one.
/// </para>
/// <para>
/// It never changes. Keep one in a static field, for all definitions, environments and threads. Two of the same name and version stand for the same
/// index.
/// </para>
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class SharedIndex
{
    private const int MaxSchemas = 1000;

    private readonly ConcurrentDictionary<string, (byte[] Bytes, TableSchema Schema)> _schemas = [];

    /// <summary>Names an index.</summary>
    /// <param name="name">The name: 1 to 200 bytes in UTF-8.</param>
    /// <param name="version">
    /// The version of the keys. Raise it when one of the functions returns other keys than before: each table moves to the index of the new version
    /// when it is brought to its definition, and that of the old version goes with its last table.
    /// </param>
    /// <exception cref="ArgumentException">The name is empty, too long, not valid text, or that of the index of the times at which rows
    /// expire.</exception>
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

    /// <summary>Reads the schema of a table that has the index. Schemas are kept, because most transactions meet the same ones.</summary>
    /// <exception cref="CorruptionException">The bytes are no schema.</exception>
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
