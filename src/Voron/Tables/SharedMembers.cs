using System.Buffers.Binary;
using System.Text;
using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>The tables that share an index: how they enter it, leave it, and are found.</summary>
/// <remarks>
/// <code>
///   absent ──Enter──▶ member ──Leave, others stay──▶ former member ──its ids are removed──▶ absent
///                       └────Leave, the last one──▶ absent, with the index
/// </code>
/// The schema tree contains a record of each member and former member. Member numbers are not reused while the index exists, so the ids of a former
/// member cannot be mistaken for those of another one.
/// </remarks>
internal static class SharedMembers
{
    private const int NumbersBytes = 2 * sizeof(ushort);
    private const byte Current = 1;
    private const byte Former = 0;

    /// <summary>Adds a table to an index, which is created for its first member.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="index">The index of the definition.</param>
    /// <param name="table">The name of the table.</param>
    /// <exception cref="StorageFullException">All table numbers, or all member numbers of the index, have been used.</exception>
    public static SharedPlace Enter(WriteTransaction transaction, IndexDefinition index, string table)
    {
        var schemas = transaction.CreateSystemTree(SystemTree.Schemas);
        var key = SchemaKeys.SharedIndex(index.Name, index.Version);
        var (number, next) = TryReadNumbers(schemas, key, out var known)
            ? known
            : (TableSequences.TakeTable(schemas, transaction.DataFilePath), SharedPlace.FirstMember);
        if (next > SharedPlace.MaxMember)
        {
            throw new StorageFullException(
                $"The table '{table}' cannot get the shared index '{index.Name}': {SharedPlace.MaxMember} tables have had version {index.Version} of it, and " +
                "member numbers are not reused. Raise its version.");
        }

        var place = new SharedPlace(number, next);
        transaction.CreateSystemIdTree(place.TreeName);
        SaveNumbers(schemas, key, number, (ushort)(PlantedFault.ReuseMember ? next : next + 1));
        Put(schemas, place, Current, Encoding.UTF8.GetBytes(table));
        return place;
    }

    /// <summary>Removes a table from an index. If the index remains, the ids of the table are left to <see cref="FormerMembers"/>.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="index">The index of the table.</param>
    /// <returns>True if it was the last member: then only the index tree is left, which the caller deletes.</returns>
    public static bool Leave(WriteTransaction transaction, IndexSchema index)
    {
        var schemas = transaction.FindSystemTree(SystemTree.Schemas)!.Value;
        var place = index.Shared!.Value;
        schemas.Delete(SchemaKeys.Member(place));
        if (HasMembers(schemas, place.Number))
        {
            Put(schemas, place, Former, []);
            return false;
        }

        schemas.Delete(SchemaKeys.SharedIndex(index.Name, index.Version));
        schemas.DeleteRange(KeyRange.Prefix(SchemaKeys.MembersOf(place.Number)));
        return true;
    }

    /// <summary>Finds the number of an index; false if no table has it.</summary>
    public static bool TryFind(Tree schemas, string name, int version, out ushort number)
    {
        var found = TryReadNumbers(schemas, SchemaKeys.SharedIndex(name, version), out var numbers);
        number = numbers.Number;
        return found;
    }

    /// <summary>Returns the name of the table in the record of a member; null for a former member.</summary>
    public static byte[]? TableOf(ReadOnlySpan<byte> record) => record is [Current, .. var name] ? name.ToArray() : null;

    /// <summary>Returns the key at which the remaining ids of a former member begin; null for a current member.</summary>
    public static byte[]? RestOf(ReadOnlySpan<byte> record) => record is [Former, .. var key] ? key.ToArray() : null;

    /// <summary>Notes that the ids of a former member remain from a key on.</summary>
    public static void SaveRest(WriteTree schemas, SharedPlace place, ReadOnlySpan<byte> key) => Put(schemas, place, Former, key);

    /// <summary>Rewrites the records of an index and a member, which may have been lost.</summary>
    public static void Restore(WriteTree schemas, IndexSchema index, string table)
    {
        var place = index.Shared!.Value;
        var key = SchemaKeys.SharedIndex(index.Name, index.Version);
        var next = Math.Max(TryReadNumbers(schemas, key, out var known) && known.Number == place.Number ? known.Next : 0, place.Member + 1);
        SaveNumbers(schemas, key, place.Number, (ushort)next);
        Put(schemas, place, Current, Encoding.UTF8.GetBytes(table));
    }

    /// <summary>Removes the numbers of shared indexes that no table has.</summary>
    /// <param name="schemas">The tree of schemas.</param>
    /// <param name="used">The numbers of the indexes that remain.</param>
    public static void RemoveOthers(WriteTree schemas, HashSet<ushort> used)
    {
        var others = new List<byte[]>();
        foreach (var entry in schemas.Prefix(SchemaKeys.SharedIndexes))
        {
            if (!TryReadNumbers(schemas, entry.Key, out var numbers) || !used.Contains(numbers.Number))
                others.Add(entry.Key.ToArray());
        }

        foreach (var key in others)
            schemas.Delete(key);
    }

    private static bool HasMembers(WriteTree schemas, ushort number)
    {
        foreach (var entry in schemas.Prefix(SchemaKeys.MembersOf(number)))
        {
            if (TableOf(entry.Value) != null)
                return true;
        }

        return false;
    }

    private static bool TryReadNumbers(Tree schemas, ReadOnlySpan<byte> key, out (ushort Number, ushort Next) numbers)
    {
        var found = schemas.TryGet(key, out var stored) && stored.Length == NumbersBytes;
        numbers = found
            ? (BinaryPrimitives.ReadUInt16LittleEndian(stored), BinaryPrimitives.ReadUInt16LittleEndian(stored[sizeof(ushort)..]))
            : default;
        return found;
    }

    private static void SaveNumbers(WriteTree schemas, ReadOnlySpan<byte> key, ushort number, ushort next)
    {
        Span<byte> bytes = stackalloc byte[NumbersBytes];
        BinaryPrimitives.WriteUInt16LittleEndian(bytes, number);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[sizeof(ushort)..], next);
        schemas.Put(key, bytes);
    }

    private static void Put(WriteTree schemas, SharedPlace place, byte kind, ReadOnlySpan<byte> rest) =>
        schemas.Put(SchemaKeys.Member(place), [kind, .. rest]);
}
