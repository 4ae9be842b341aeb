using System.Buffers.Binary;

namespace Voron.Tables;

/// <summary>The state of a table before the evolution that builds its indexes, to which it returns if an index cannot be built.</summary>
/// <param name="Version">The version of the definition.</param>
/// <param name="Indexes">The numbers of the indexes that the evolution has kept.</param>
internal readonly record struct SchemaBefore(int Version, IReadOnlyList<ushort> Indexes)
{
    /// <summary>Reads the stored state; returns the current version and indexes if none is stored.</summary>
    public static SchemaBefore Read(Tree schemas, TableSchema schema)
    {
        if (!schemas.TryGet(SchemaKeys.Before(schema.Id), out var bytes) || bytes.Length < sizeof(int) || bytes.Length % sizeof(ushort) != 0)
            return new SchemaBefore(schema.Version, [.. schema.Indexes.Select(index => index.Id)]);
        var indexes = new List<ushort>();
        for (var rest = bytes[sizeof(int)..]; !rest.IsEmpty; rest = rest[sizeof(ushort)..])
            indexes.Add(BinaryPrimitives.ReadUInt16LittleEndian(rest));
        return new SchemaBefore(BinaryPrimitives.ReadInt32LittleEndian(bytes), indexes);
    }

    /// <summary>Stores the state.</summary>
    public void Save(WriteTree schemas, ushort table)
    {
        var bytes = new byte[sizeof(int) + sizeof(ushort) * Indexes.Count];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, Version);
        for (var i = 0; i < Indexes.Count; i++)
            BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(sizeof(int) + sizeof(ushort) * i), Indexes[i]);
        schemas.Put(SchemaKeys.Before(table), bytes);
    }
}
