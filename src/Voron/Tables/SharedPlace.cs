using Voron.Trees;

namespace Voron.Tables;

/// <summary>The place of a table in a shared index.</summary>
/// <remarks>
/// <code>
///   id of the index:  | 0 | member, 15 bits | row id, 48 bits |
/// </code>
/// A table that leaves the index and returns is another member, so its old ids mean nothing until they are removed.
/// </remarks>
/// <param name="Number">The number of the index, taken from the table numbers: no table or other shared index has it.</param>
/// <param name="Member">The number of the table in the index, where it is never reused.</param>
internal readonly record struct SharedPlace(ushort Number, ushort Member)
{
    /// <summary>The number of the first member. It is not 0, so that no id looks like a row id.</summary>
    public const ushort FirstMember = 1;

    /// <summary>The highest number of a member: ids have 63 bits.</summary>
    public const ushort MaxMember = (1 << 15) - 1;

    // The index number in the tree name of a shared index.
    private const ushort IndexId = 1;

    private const int RowIdBits = 48;

    /// <summary>The name of the index tree.</summary>
    public byte[] TreeName => SystemTree.IndexName(Number, IndexId, isUnique: false);

    /// <summary>The id of row 0 of the table.</summary>
    public long FirstId => (long)Member << RowIdBits;

    /// <summary>The highest id that a row of the table can have.</summary>
    public long LastId => FirstId | RowIdBytes.Max;

    /// <summary>Returns the member in an id.</summary>
    public static int MemberOf(long id) => (int)(id >> RowIdBits);

    /// <summary>Returns the row id in an id.</summary>
    public static long RowIdOf(long id) => id & RowIdBytes.Max;
}
