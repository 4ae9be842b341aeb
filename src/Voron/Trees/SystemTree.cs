using System.Buffers.Binary;
using Voron.Format;

namespace Voron.Trees;

/// <summary>
/// The engine's own trees. Their names in the catalog begin with FF, a byte that never occurs in UTF-8, so no user can name one. They sort last, and
/// appear in no list of names. The second byte identifies the type of tree.
/// </summary>
/// <remarks>
/// <code>
///   FF S                 the schemas of all tables
///   FF R table           the rows of a table, by row id
///   FF U table index     the primary key of a table (index 0), or a unique index: keys to row ids
///   FF I table index     any other index: keys to sets of row ids
///   FF C                 the change feeds
///   FF C feed            the changes of a feed, by transaction and position in the transaction
///   FF D tree            a dropped tree, until all of its pages are free
///   FF V tree            the values of the large sets of a tree of value sets, by set number
///   FF Z tree            the compression dictionaries of a tree, by number
/// </code>
/// Table, index and feed numbers have two bytes, a tree id has four, all in big-endian order.
/// </remarks>
internal static class SystemTree
{
    /// <summary>The length in bytes of the name of a dropped tree: FF, D, and the id of the tree in big-endian order.</summary>
    public const int DroppedNameBytes = 2 + sizeof(uint);

    /// <summary>The length in bytes of the name of a table's row tree.</summary>
    public const int RowsNameBytes = 2 + sizeof(ushort);

    /// <summary>The length in bytes of the name of an index tree.</summary>
    public const int IndexNameBytes = 2 + (2 * sizeof(ushort));

    /// <summary>The length in bytes of the name of a feed's change tree.</summary>
    public const int ChangesNameBytes = 2 + sizeof(ushort);

    /// <summary>The length in bytes of the name of a tree's dictionary tree.</summary>
    public const int DictionariesNameBytes = 2 + sizeof(uint);

    /// <summary>The length in bytes of the name of the companion of a tree of value sets.</summary>
    public const int LargeSetsNameBytes = 2 + sizeof(uint);

    private const byte Mark = 0xFF;
    private const byte Compression = (byte)'Z';
    private const byte Feed = (byte)'C';
    private const byte LargeSets = (byte)'V';
    private const byte Dropped = (byte)'D';
    private const byte Schema = (byte)'S';
    private const byte Rows = (byte)'R';
    private const byte Unique = (byte)'U';
    private const byte Index = (byte)'I';

    /// <summary>The common prefix of the names of all system trees, which sorts before them.</summary>
    public static ReadOnlySpan<byte> First => [Mark];

    /// <summary>The common prefix of the names of all dropped trees, which sorts before them.</summary>
    public static ReadOnlySpan<byte> FirstDropped => [Mark, Dropped];

    /// <summary>The name of the tree of all table schemas.</summary>
    public static ReadOnlySpan<byte> Schemas => [Mark, Schema];

    /// <summary>The name of the tree of all change feeds.</summary>
    public static ReadOnlySpan<byte> Feeds => [Mark, Feed];

    public static bool Is(ReadOnlySpan<byte> name) => name.StartsWith(First);

    /// <summary>Returns whether a tree was dropped. Its pages are freed step by step, and its entry count is not kept up to date.</summary>
    public static bool IsDropped(ReadOnlySpan<byte> name) => name.StartsWith(FirstDropped) && name.Length == DroppedNameBytes;

    /// <summary>Returns whether a tree belongs to the tables.</summary>
    public static bool IsOfTables(ReadOnlySpan<byte> name) => name.SequenceEqual(Schemas) || IsRows(name) || IsIndex(name);

    /// <summary>Returns whether a tree contains the rows of a table.</summary>
    public static bool IsRows(ReadOnlySpan<byte> name) => name is [Mark, Rows, ..] && name.Length == RowsNameBytes;

    /// <summary>Returns whether a tree is an index of a table.</summary>
    public static bool IsIndex(ReadOnlySpan<byte> name) => name is [Mark, Unique or Index, ..] && name.Length == IndexNameBytes;

    /// <summary>Returns whether a tree belongs to the change feeds.</summary>
    public static bool IsOfFeeds(ReadOnlySpan<byte> name) => name.SequenceEqual(Feeds) || (name.StartsWith(Feeds) && name.Length == ChangesNameBytes);

    /// <summary>Returns whether a tree contains the dictionaries of another tree.</summary>
    public static bool IsDictionaries(ReadOnlySpan<byte> name) => name is [Mark, Compression, ..] && name.Length == DictionariesNameBytes;

    /// <summary>Returns whether a tree is the companion of a tree of value sets.</summary>
    public static bool IsLargeSets(ReadOnlySpan<byte> name) => name is [Mark, LargeSets, ..] && name.Length == LargeSetsNameBytes;

    /// <summary>Returns whether a name is that of a system tree of a kind unknown to this engine.</summary>
    public static bool IsUnknown(ReadOnlySpan<byte> name) =>
        Is(name) && !IsDropped(name) && !IsOfTables(name) && !IsOfFeeds(name) && !IsDictionaries(name) && !IsLargeSets(name);

    /// <summary>Returns the kind of a tree that belongs to the tables.</summary>
    public static TreeKind Kind(ReadOnlySpan<byte> name) => name is [Mark, Index, ..] ? TreeKind.IdSets : TreeKind.Plain;

    /// <summary>Returns the feature recorded in the header of an environment with a tree of this name.</summary>
    public static FormatFeatures Feature(ReadOnlySpan<byte> name)
    {
        if (IsOfTables(name))
            return FormatFeatures.Tables;
        if (IsDictionaries(name))
            return FormatFeatures.CompressedValues;
        if (IsLargeSets(name))
            return FormatFeatures.ValueSets;
        return IsOfFeeds(name) ? FormatFeatures.ChangeFeeds : FormatFeatures.None;
    }

    /// <summary>Writes the name of a dropped tree, kept until all of its pages are free.</summary>
    public static ReadOnlySpan<byte> DroppedName(uint treeId, Span<byte> buffer)
    {
        FirstDropped.CopyTo(buffer);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[FirstDropped.Length..], treeId);
        return buffer[..DroppedNameBytes];
    }

    /// <summary>Returns the name of a table's row tree.</summary>
    public static byte[] RowsName(ushort table)
    {
        byte[] name = [Mark, Rows, 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(name.AsSpan(2), table);
        return name;
    }

    /// <summary>Returns the name of an index tree.</summary>
    public static byte[] IndexName(ushort table, ushort index, bool isUnique)
    {
        byte[] name = [Mark, isUnique ? Unique : Index, 0, 0, 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(name.AsSpan(2), table);
        BinaryPrimitives.WriteUInt16BigEndian(name.AsSpan(4), index);
        return name;
    }

    /// <summary>Writes the name of a feed's change tree.</summary>
    public static ReadOnlySpan<byte> ChangesName(ushort feed, Span<byte> buffer)
    {
        Feeds.CopyTo(buffer);
        BinaryPrimitives.WriteUInt16BigEndian(buffer[Feeds.Length..], feed);
        return buffer[..ChangesNameBytes];
    }

    /// <summary>Writes the name of a tree's dictionary tree.</summary>
    public static ReadOnlySpan<byte> DictionariesName(uint treeId, Span<byte> buffer) => NameBeside(Compression, treeId, buffer);

    /// <summary>Returns the id of the tree to which a dictionary tree belongs.</summary>
    public static uint DictionariesOf(ReadOnlySpan<byte> name) => BinaryPrimitives.ReadUInt32BigEndian(name[2..]);

    /// <summary>Writes the name of the companion of a tree of value sets.</summary>
    public static ReadOnlySpan<byte> LargeSetsName(uint treeId, Span<byte> buffer) => NameBeside(LargeSets, treeId, buffer);

    /// <summary>Returns the id of the tree to which a companion belongs.</summary>
    public static uint LargeSetsOf(ReadOnlySpan<byte> name) => BinaryPrimitives.ReadUInt32BigEndian(name[2..]);

    /// <summary>Returns the id in the name of a dropped tree.</summary>
    public static uint DroppedId(ReadOnlySpan<byte> name) => BinaryPrimitives.ReadUInt32BigEndian(name[FirstDropped.Length..]);

    /// <summary>Describes a system tree for messages.</summary>
    public static string Describe(ReadOnlySpan<byte> name)
    {
        if (IsDropped(name))
            return $"dropped tree {DroppedId(name)}";
        if (name.SequenceEqual(Schemas))
            return "tree of table schemas";
        if (name.SequenceEqual(Feeds))
            return "tree of change feeds";
        if (IsOfFeeds(name))
            return $"tree of the changes of feed {BinaryPrimitives.ReadUInt16BigEndian(name[2..])}";
        if (IsDictionaries(name))
            return $"tree of the dictionaries of the tree with id {DictionariesOf(name)}";
        if (IsLargeSets(name))
            return $"tree of the large sets of the tree with id {LargeSetsOf(name)}";
        if (IsRows(name))
            return $"tree of the rows of table {BinaryPrimitives.ReadUInt16BigEndian(name[2..])}";
        if (!IsIndex(name))
            return $"system tree {KeyText.Of(name)}";
        var (table, index) = (BinaryPrimitives.ReadUInt16BigEndian(name[2..]), BinaryPrimitives.ReadUInt16BigEndian(name[4..]));
        return index == 0 ? $"primary key of table {table}" : $"index {index} of table {table}";
    }

    // Writes the name of a tree that belongs to another one.
    private static ReadOnlySpan<byte> NameBeside(byte kind, uint treeId, Span<byte> buffer)
    {
        (buffer[0], buffer[1]) = (Mark, kind);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[2..], treeId);
        return buffer[..(2 + sizeof(uint))];
    }
}
