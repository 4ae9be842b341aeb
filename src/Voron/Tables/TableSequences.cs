using System.Buffers.Binary;

namespace Voron.Tables;

/// <summary>The counters in the schema tree: the next table number, and the next row id and row version of a table.</summary>
internal static class TableSequences
{
    private const ushort FirstTable = 1;

    /// <summary>Returns the number of the next table.</summary>
    public static ushort NextTable(Tree schemas) =>
        schemas.TryGet(SchemaKeys.NextTable, out var stored) && stored.Length == sizeof(ushort)
            ? BinaryPrimitives.ReadUInt16LittleEndian(stored)
            : FirstTable;

    /// <summary>Takes a number that no table or shared index has had.</summary>
    /// <exception cref="StorageFullException">All numbers have been used.</exception>
    public static ushort TakeTable(WriteTree schemas, string path)
    {
        var id = NextTable(schemas);
        if (id == ushort.MaxValue)
            throw new StorageFullException($"No table can be created: '{path}' has used all {ushort.MaxValue - 1} table numbers, and reuses none.");
        SaveNextTable(schemas, (ushort)(id + 1));
        return id;
    }

    public static void SaveNextTable(WriteTree schemas, ushort next)
    {
        Span<byte> bytes = stackalloc byte[sizeof(ushort)];
        BinaryPrimitives.WriteUInt16LittleEndian(bytes, next);
        schemas.Put(SchemaKeys.NextTable, bytes);
    }

    /// <summary>Returns the stored row id or row version below which a table reuses none; 0 if none is stored.</summary>
    /// <param name="schemas">The tree.</param>
    /// <param name="key"><see cref="SchemaKeys.NextRow"/> or <see cref="SchemaKeys.NextVersion"/>.</param>
    public static long NextOfTable(Tree schemas, ReadOnlySpan<byte> key) =>
        schemas.TryGet(key, out var stored) && stored.Length == sizeof(long) ? BinaryPrimitives.ReadInt64LittleEndian(stored) : 0;

    public static void SaveNextOfTable(WriteTree schemas, ReadOnlySpan<byte> key, long next)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, next);
        schemas.Put(key, bytes);
    }

    /// <summary>Returns the id after that of the last row; 0 if there are no rows.</summary>
    public static long BehindLastRow(Tree rows) => rows.TryGetLast(out var last) && RowIdBytes.TryRead(last.Key, out var rowId) ? rowId + 1 : 0;
}
