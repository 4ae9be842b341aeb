using System.Buffers.Binary;
using Voron.Format;

namespace Voron.Trees;

/// <summary>
/// The trees of the engine's own: their names in the catalog begin with FF, a byte that UTF-8 never has, so no user can name one. They come last,
/// and are in no list of names. The second byte says what a tree is.
/// </summary>
/// <remarks>
/// <code>
///   FF S                 the schemas of all tables
///   FF R table           the rows of a table, by row id
///   FF U table index     the primary key of a table (index 0), or a unique index: from keys to row ids
///   FF I table index     another index: from keys to sets of row ids
///   FF C                 the change feeds
///   FF C feed            the changes of a feed, by transaction and place in it
///   FF D tree            a dropped tree, until all of its pages are free
///   FF V tree            the values of the large sets of a tree of value sets, by the numbers of the sets
///   FF Z tree            the dictionaries with which the values of a tree are compressed, by their numbers
/// </code>
/// The numbers of tables, indexes and feeds have two bytes, the id of a tree has four, all in big-endian order.
/// </remarks>
internal static class SystemTree
{
    /// <summary>The length in bytes of the name of a dropped tree: FF, D, and the id of the tree in big-endian order.</summary>
    public const int DroppedNameBytes = 2 + sizeof(uint);

    /// <summary>The length in bytes of the name of a table's rows.</summary>
    public const int RowsNameBytes = 2 + sizeof(ushort);

    /// <summary>The length in bytes of the name of an index.</summary>
    public const int IndexNameBytes = 2 + (2 * sizeof(ushort));

    /// <summary>The length in bytes of the name of a feed's changes.</summary>
    public const int ChangesNameBytes = 2 + sizeof(ushort);

    /// <summary>The length in bytes of the name of a tree's dictionaries.</summary>
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

    /// <summary>The place before all system trees.</summary>
    public static ReadOnlySpan<byte> First => [Mark];

    /// <summary>The place before all dropped trees.</summary>
    public static ReadOnlySpan<byte> FirstDropped => [Mark, Dropped];

    /// <summary>The name of the tree that has the schemas of all tables.</summary>
    public static ReadOnlySpan<byte> Schemas => [Mark, Schema];

    /// <summary>The name of the tree that has all change feeds.</summary>
    public static ReadOnlySpan<byte> Feeds => [Mark, Feed];

    public static bool Is(ReadOnlySpan<byte> name) => name.StartsWith(First);

    /// <summary>Returns whether a tree was dropped, and loses its pages step by step. Its number of entries is not kept up to date.</summary>
    public static bool IsDropped(ReadOnlySpan<byte> name) => name.StartsWith(FirstDropped) && name.Length == DroppedNameBytes;

    /// <summary>Returns whether a tree belongs to the tables.</summary>
    public static bool IsOfTables(ReadOnlySpan<byte> name) => name.SequenceEqual(Schemas) || IsRows(name) || IsIndex(name);

    /// <summary>Returns whether a tree has the rows of a table.</summary>
    public static bool IsRows(ReadOnlySpan<byte> name) => name is [Mark, Rows, ..] && name.Length == RowsNameBytes;

    /// <summary>Returns whether a tree is an index of a table.</summary>
    public static bool IsIndex(ReadOnlySpan<byte> name) => name is [Mark, Unique or Index, ..] && name.Length == IndexNameBytes;

    /// <summary>Returns whether a tree belongs to the change feeds.</summary>
    public static bool IsOfFeeds(ReadOnlySpan<byte> name) => name.SequenceEqual(Feeds) || (name.StartsWith(Feeds) && name.Length == ChangesNameBytes);

    /// <summary>Returns whether a tree has the dictionaries of another one.</summary>
    public static bool IsDictionaries(ReadOnlySpan<byte> name) => name is [Mark, Compression, ..] && name.Length == DictionariesNameBytes;

    /// <summary>Returns whether a tree is the companion of a tree of value sets.</summary>
    public static bool IsLargeSets(ReadOnlySpan<byte> name) => name is [Mark, LargeSets, ..] && name.Length == LargeSetsNameBytes;

    /// <summary>Returns whether a name is that of a system tree of a kind that this engine does not know.</summary>
    public static bool IsUnknown(ReadOnlySpan<byte> name) =>
        Is(name) && !IsDropped(name) && !IsOfTables(name) && !IsOfFeeds(name) && !IsDictionaries(name) && !IsLargeSets(name);

    /// <summary>The kind of a tree of the tables.</summary>
    public static TreeKind Kind(ReadOnlySpan<byte> name) => name is [Mark, Index, ..] ? TreeKind.IdSets : TreeKind.Plain;

    /// <summary>The feature that an environment with a tree of this name has in its header.</summary>
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

    /// <summary>Writes the name under which a dropped tree stays until all of its pages are free.</summary>
    public static ReadOnlySpan<byte> DroppedName(uint treeId, Span<byte> buffer)
    {
        FirstDropped.CopyTo(buffer);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[FirstDropped.Length..], treeId);
        return buffer[..DroppedNameBytes];
    }

    /// <summary>Returns the name of the tree of a table's rows.</summary>
    public static byte[] RowsName(ushort table)
    {
        byte[] name = [Mark, Rows, 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(name.AsSpan(2), table);
        return name;
    }

    /// <summary>Returns the name of the tree of an index.</summary>
    public static byte[] IndexName(ushort table, ushort index, bool isUnique)
    {
        byte[] name = [Mark, isUnique ? Unique : Index, 0, 0, 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(name.AsSpan(2), table);
        BinaryPrimitives.WriteUInt16BigEndian(name.AsSpan(4), index);
        return name;
    }

    /// <summary>Writes the name of the tree of a feed's changes.</summary>
    public static ReadOnlySpan<byte> ChangesName(ushort feed, Span<byte> buffer)
    {
        Feeds.CopyTo(buffer);
        BinaryPrimitives.WriteUInt16BigEndian(buffer[Feeds.Length..], feed);
        return buffer[..ChangesNameBytes];
    }

    /// <summary>Writes the name of the tree of a tree's dictionaries.</summary>
    public static ReadOnlySpan<byte> DictionariesName(uint treeId, Span<byte> buffer) => NameBeside(Compression, treeId, buffer);

    /// <summary>Returns the id of the tree whose dictionaries a tree has.</summary>
    public static uint DictionariesOf(ReadOnlySpan<byte> name) => BinaryPrimitives.ReadUInt32BigEndian(name[2..]);

    /// <summary>Writes the name of the companion of a tree of value sets.</summary>
    public static ReadOnlySpan<byte> LargeSetsName(uint treeId, Span<byte> buffer) => NameBeside(LargeSets, treeId, buffer);

    /// <summary>Returns the id of the tree whose companion a tree is.</summary>
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

    // Of a tree that belongs to another one.
    private static ReadOnlySpan<byte> NameBeside(byte kind, uint treeId, Span<byte> buffer)
    {
        (buffer[0], buffer[1]) = (Mark, kind);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[2..], treeId);
        return buffer[..(2 + sizeof(uint))];
    }
}
