using System.Buffers.Binary;
using System.Text;

namespace Voron.Tables;

/// <summary>The keys of the schema tree.</summary>
/// <remarks>
/// <code>
///   00              the number of the next table (2 bytes)
///   01 table        the row id of the next row (8 bytes), where that is not the last row's plus one
///   02 name         the schema of a table
///   03 version name the number of an index that tables share (2 bytes), and what its next member gets (2 bytes)
///   04 index member of a shared index: 1 and the name of the table; or 0 and the key from which on the ids of a former member are left
///   05 table        while indexes are built: the version that the table had before (4 bytes), and the indexes that it has kept (2 bytes each)
///   06 table        the lowest version of rows that are inserted (8 bytes), once a row was deleted whose version was that of a later transaction
/// </code>
/// Numbers in values are little-endian, numbers in keys big-endian. A version has four bytes; the numbers of tables, shared indexes and members
/// have two.
/// </remarks>
internal static class SchemaKeys
{
    /// <summary>The maximum length of a name in UTF-8 bytes.</summary>
    public const int MaxNameBytes = 200;

    private const byte NextTableMark = 0;
    private const byte NextRowMark = 1;
    private const byte TableMark = 2;
    private const byte SharedMark = 3;
    private const byte MemberMark = 4;
    private const byte BeforeMark = 5;
    private const byte NextVersionMark = 6;

    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public static ReadOnlySpan<byte> NextTable => [NextTableMark];

    /// <summary>The key prefix of all table schemas.</summary>
    public static ReadOnlySpan<byte> Tables => [TableMark];

    /// <summary>The key prefix of all shared index numbers.</summary>
    public static ReadOnlySpan<byte> SharedIndexes => [SharedMark];

    /// <summary>The key prefix of the members of all shared indexes.</summary>
    public static ReadOnlySpan<byte> Members => [MemberMark];

    /// <summary>Returns the key of a shared index.</summary>
    public static byte[] SharedIndex(string name, int version)
    {
        byte[] key = [SharedMark, 0, 0, 0, 0, .. Encode(name, "an index")];
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(1), version);
        return key;
    }

    /// <summary>Returns the key prefix of the members of a shared index.</summary>
    public static byte[] MembersOf(ushort index)
    {
        byte[] key = [MemberMark, 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(key.AsSpan(1), index);
        return key;
    }

    /// <summary>Returns the key of a member of a shared index, or of a former one.</summary>
    public static byte[] Member(SharedPlace place)
    {
        byte[] key = [.. MembersOf(place.Number), 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(key.AsSpan(3), place.Member);
        return key;
    }

    /// <summary>Reads the member in a key; false if it is not the key of a member.</summary>
    public static bool TryReadMember(ReadOnlySpan<byte> key, out SharedPlace place)
    {
        var isOne = key.Length == 5 && key[0] == MemberMark;
        place = isOne
            ? new SharedPlace(BinaryPrimitives.ReadUInt16BigEndian(key[1..]), BinaryPrimitives.ReadUInt16BigEndian(key[3..]))
            : default;
        return isOne;
    }

    public static byte[] NextRow(ushort table) => OfTable(NextRowMark, table);

    /// <summary>Returns the key of the lowest version for rows that are inserted into a table.</summary>
    public static byte[] NextVersion(ushort table) => OfTable(NextVersionMark, table);

    /// <summary>Returns the key of a table's state before its evolution.</summary>
    public static byte[] Before(ushort table) => OfTable(BeforeMark, table);

    /// <summary>Checks the name of an index.</summary>
    /// <param name="name">The name.</param>
    /// <param name="what">The kind of the named object, for messages.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    public static void CheckName(string name, string what) => _ = Encode(name, what);

    /// <summary>Returns the key of a table's schema.</summary>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    public static byte[] Table(string name) => [TableMark, .. Encode(name, "a table")];

    /// <summary>Returns the table name in the key of a schema.</summary>
    public static string TableName(ReadOnlySpan<byte> key) => Encoding.UTF8.GetString(key[1..]);

    private static byte[] OfTable(byte mark, ushort table)
    {
        byte[] key = [mark, 0, 0];
        BinaryPrimitives.WriteUInt16BigEndian(key.AsSpan(1), table);
        return key;
    }

    /// <summary>Returns the bytes of a name of at most <see cref="MaxNameBytes"/>.</summary>
    /// <inheritdoc cref="CheckName"/>
    public static byte[] Encode(string name, string what)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        byte[] bytes;
        try
        {
            bytes = Utf8.GetBytes(name);
        }
        catch (EncoderFallbackException cause)
        {
            throw new ArgumentException(
                $"The name of {what} must be valid text, but half of a surrogate pair is at index {cause.Index}.", nameof(name), cause);
        }

        if (bytes.Length > MaxNameBytes)
        {
            throw new ArgumentException(
                $"The name of {what} has at most {MaxNameBytes} bytes in UTF-8, but this one has {bytes.Length}.", nameof(name));
        }

        return bytes;
    }
}
