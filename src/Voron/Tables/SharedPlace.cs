using Voron.Trees;

namespace Voron.Tables;

/// <summary>The place of a table in an index that it shares.</summary>
/// <remarks>
/// <code>
///   id of the index:  | 0 | member, 15 bits | row id, 48 bits |
/// </code>
/// A table that leaves the index and comes back is another member, so the ids that it has left behind mean nothing until they are removed.
/// </remarks>
/// <param name="Number">The number of the index, one of those of the tables: the index is the only one of that number.</param>
/// <param name="Member">The number of the table in the index, never used again there.</param>
internal readonly record struct SharedPlace(ushort Number, ushort Member)
{
    /// <summary>The number of the first member. The ids of none look like row ids.</summary>
    public const ushort FirstMember = 1;

    /// <summary>The highest number of a member: ids have 63 bits.</summary>
    public const ushort MaxMember = (1 << 15) - 1;

    // The index that the tree of a shared index has in its name.
    private const ushort IndexId = 1;

    private const int RowIdBits = 48;

    /// <summary>The name of the tree of the index.</summary>
    public byte[] TreeName => SystemTree.IndexName(Number, IndexId, isUnique: false);

    /// <summary>The id that the row 0 of the table has.</summary>
    public long FirstId => (long)Member << RowIdBits;

    /// <summary>The highest id that a row of the table can have.</summary>
    public long LastId => FirstId | RowKey.Max;

    /// <summary>Returns the member in an id.</summary>
    public static int MemberOf(long id) => (int)(id >> RowIdBits);

    /// <summary>Returns the row id in an id.</summary>
    public static long RowIdOf(long id) => id & RowKey.Max;
}
