using System.Buffers.Binary;

namespace Voron.Tables;

/// <summary>The bytes of a row: a header, the ends of the variable fields, the fixed part, the variable part.</summary>
/// <remarks>
/// <code>
///  0 | version of the definition | flags | variable fields | version of the row                     |
/// 12 | expiry (8), if flagged | ends (2 or 4 each) | fixed part | variable part                     |
/// </code>
/// Ends are counted from the start of the variable part, which is at the row length minus the last end, so the length of the fixed part is not
/// stored. Unless noted otherwise, methods require rows in which <see cref="FindFault"/> has found no fault.
/// </remarks>
internal static class RowLayout
{
    /// <summary>The size of the header, which every row has.</summary>
    public const int HeaderSize = 12;

    /// <summary>The maximum number of variable fields.</summary>
    public const int MaxFields = byte.MaxValue;

    /// <summary>The maximum version of a definition.</summary>
    public const int MaxDefinitionVersion = ushort.MaxValue;

    /// <summary>The maximum length of a variable part whose ends have two bytes each.</summary>
    public const int MaxNarrowEnd = ~NarrowNull & ushort.MaxValue;

    private const int FlagsOffset = 2;
    private const int FieldsOffset = 3;
    private const int VersionOffset = 4;
    private const byte ExpiryFlag = 1;
    private const byte WideFlag = 2;
    private const byte KnownFlags = ExpiryFlag | WideFlag;
    private const int NarrowNull = 1 << 15;
    private const int WideNull = int.MinValue;

    /// <summary>Returns the version of the definition with which the row was written.</summary>
    public static int DefinitionVersion(ReadOnlySpan<byte> row) => BinaryPrimitives.ReadUInt16LittleEndian(row);

    /// <summary>Returns the version of the row.</summary>
    public static RowVersion Version(ReadOnlySpan<byte> row) => new(BinaryPrimitives.ReadInt64LittleEndian(row[VersionOffset..]));

    /// <summary>Changes the version of a row.</summary>
    public static void SetVersion(Span<byte> row, long version) => BinaryPrimitives.WriteInt64LittleEndian(row[VersionOffset..], version);

    /// <summary>Gets the time from which the row is expired, in milliseconds since 1970; false if it has none.</summary>
    public static bool TryGetExpiry(ReadOnlySpan<byte> row, out long expiry)
    {
        var has = (row[FlagsOffset] & ExpiryFlag) != 0;
        expiry = has ? BinaryPrimitives.ReadInt64LittleEndian(row[HeaderSize..]) : 0;
        return has;
    }

    /// <summary>Returns true if a row's expiry time is at or before another time. Accepts arbitrary bytes.</summary>
    public static bool IsDue(ReadOnlySpan<byte> row, long now) =>
        row.Length >= HeaderSize + sizeof(long) && TryGetExpiry(row, out var expiry) && expiry <= now;

    /// <summary>Returns a copy of a row with another expiry time, or with none.</summary>
    public static byte[] WithExpiry(ReadOnlySpan<byte> row, long? expiry)
    {
        var rest = row[EndsStart(row)..];
        var changed = new byte[HeaderSize + (expiry.HasValue ? sizeof(long) : 0) + rest.Length];
        row[..HeaderSize].CopyTo(changed);
        changed[FlagsOffset] = (byte)(row[FlagsOffset] & ~ExpiryFlag | (expiry.HasValue ? ExpiryFlag : 0));
        if (expiry is { } time)
            BinaryPrimitives.WriteInt64LittleEndian(changed.AsSpan(HeaderSize), time);
        rest.CopyTo(changed.AsSpan(changed.Length - rest.Length));
        return changed;
    }

    /// <summary>Returns true if two rows differ in nothing but their versions.</summary>
    public static bool ContentEquals(ReadOnlySpan<byte> left, ReadOnlySpan<byte> right) =>
        left.Length == right.Length
        && left[HeaderSize..].SequenceEqual(right[HeaderSize..])
        && left[..VersionOffset].SequenceEqual(right[..VersionOffset]);

    /// <summary>Returns the number of variable fields.</summary>
    public static int FieldCount(ReadOnlySpan<byte> row) => row[FieldsOffset];

    /// <summary>Returns the offset of the fixed part.</summary>
    public static int FixedStart(ReadOnlySpan<byte> row) => EndsStart(row) + row[FieldsOffset] * EndSize(row);

    /// <summary>Returns the offset of the variable part, where the fixed part ends.</summary>
    public static int VariableStart(ReadOnlySpan<byte> row)
    {
        var fields = FieldCount(row);
        return row.Length - (fields == 0 ? 0 : End(row, fields - 1, out _));
    }

    /// <summary>Returns the end of a variable field, counted from the start of the variable part.</summary>
    public static int End(ReadOnlySpan<byte> row, int field, out bool isNull) => End(row, EndsStart(row), IsWide(row), field, out isNull);

    /// <inheritdoc cref="End(ReadOnlySpan{byte}, int, out bool)"/>
    /// <param name="row">The row.</param>
    /// <param name="endsStart">Its <see cref="EndsStart"/>.</param>
    /// <param name="isWide">Its <see cref="IsWide"/>.</param>
    /// <param name="field">The number of the field.</param>
    /// <param name="isNull">True if the field is null.</param>
    public static int End(ReadOnlySpan<byte> row, int endsStart, bool isWide, int field, out bool isNull)
    {
        if (isWide)
        {
            var wide = BinaryPrimitives.ReadInt32LittleEndian(row[(endsStart + field * sizeof(int))..]);
            isNull = wide < 0;
            return wide & ~WideNull;
        }

        var narrow = BinaryPrimitives.ReadUInt16LittleEndian(row[(endsStart + field * sizeof(ushort))..]);
        isNull = (narrow & NarrowNull) != 0;
        return narrow & MaxNarrowEnd;
    }

    /// <summary>Returns the offset of the ends of the variable fields.</summary>
    public static int EndsStart(ReadOnlySpan<byte> row) => (row[FlagsOffset] & ExpiryFlag) != 0 ? HeaderSize + sizeof(long) : HeaderSize;

    /// <summary>Returns true if each end has four bytes, false if it has two.</summary>
    public static bool IsWide(ReadOnlySpan<byte> row) => (row[FlagsOffset] & WideFlag) != 0;

    /// <summary>Returns the offset of the fixed part of a row before it is written.</summary>
    public static int FixedStart(bool hasExpiry, int fields, int variableLength) =>
        HeaderSize + (hasExpiry ? sizeof(long) : 0) + fields * (variableLength > MaxNarrowEnd ? sizeof(int) : sizeof(ushort));

    /// <summary>Writes everything before the fixed part.</summary>
    /// <param name="row">The row.</param>
    /// <param name="definitionVersion">The version of the definition.</param>
    /// <param name="version">The version of the row.</param>
    /// <param name="expiry">The time from which it is expired, in milliseconds since 1970; null for none.</param>
    /// <param name="ends">The end of each variable field, and the complement of the end for one that is null.</param>
    /// <param name="variableLength">The length of the variable part.</param>
    public static void WriteHead(
        Span<byte> row, int definitionVersion, long version, long? expiry, ReadOnlySpan<int> ends, int variableLength)
    {
        var isWide = variableLength > MaxNarrowEnd;
        BinaryPrimitives.WriteUInt16LittleEndian(row, (ushort)definitionVersion);
        row[FlagsOffset] = (byte)((expiry.HasValue ? ExpiryFlag : 0) | (isWide ? WideFlag : 0));
        row[FieldsOffset] = (byte)ends.Length;
        SetVersion(row, version);
        if (expiry.HasValue)
            BinaryPrimitives.WriteInt64LittleEndian(row[HeaderSize..], expiry.GetValueOrDefault());
        var at = EndsStart(row);
        foreach (var end in ends)
        {
            if (isWide)
                BinaryPrimitives.WriteInt32LittleEndian(row[at..], end < 0 ? ~end | WideNull : end);
            else
                BinaryPrimitives.WriteUInt16LittleEndian(row[at..], (ushort)(end < 0 ? ~end | NarrowNull : end));
            at += isWide ? sizeof(int) : sizeof(ushort);
        }
    }

    /// <summary>
    /// Describes the fault of a row; returns null if it has none. In a row without faults, all offsets and ends are within the row.
    /// </summary>
    /// <param name="row">Any bytes.</param>
    public static string? FindFault(ReadOnlySpan<byte> row)
    {
        if (row.Length < HeaderSize)
            return $"it has {row.Length} bytes, fewer than its header";
        if ((row[FlagsOffset] & ~KnownFlags) != 0)
            return $"it has unknown flags ({row[FlagsOffset]})";
        if (Version(row).Value <= 0)
            return $"its version is {Version(row)}";
        var room = row.Length - FixedStart(row);
        if (room < 0)
            return $"its {row.Length} bytes end before its fixed part";
        if (TryGetExpiry(row, out var expiry) && expiry is < RowExpiry.Min or > RowExpiry.Max)
            return $"its expiry is {expiry} milliseconds after 1970";
        var previous = 0;
        var (fields, endsStart, isWide) = (FieldCount(row), EndsStart(row), IsWide(row));
        for (var field = 0; field < fields; field++)
        {
            var end = End(row, endsStart, isWide, field, out var isNull);
            if (end < previous || (isNull && end > previous))
                return $"its variable field {field} is from {previous} to {end}{(isNull ? ", but null" : "")}";
            previous = end;
        }

        return previous <= room ? null : $"it has room for {room} bytes of variable fields, and they have {previous}";
    }

    private static int EndSize(ReadOnlySpan<byte> row) => IsWide(row) ? sizeof(int) : sizeof(ushort);
}
