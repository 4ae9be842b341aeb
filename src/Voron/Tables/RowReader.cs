using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>Reads the fields of a row, in the order in which a <see cref="RowWriter"/> wrote them and as the same types.</summary>
/// <remarks>
/// <para>
/// The reader reads the row in place: it copies nothing, and is valid as long as the row. Fixed and variable fields are two sequences with separate
/// positions; it does not matter which one is read first.
/// </para>
/// <para>
/// Types are not stored. A field read as another type of the same size yields another value; bytes that are not a valid value, and missing fields,
/// cause a <see cref="RowFormatException"/>. No read goes beyond the row. To pass a reader to a method, pass it by reference.
/// </para>
/// </remarks>
public ref partial struct RowReader
{
    private readonly ReadOnlySpan<byte> _row;
    private readonly string? _tableName;
    private readonly int _endsStart;
    private readonly bool _isWide;
    private readonly int _fixedStart;
    private readonly int _variableStart;
    private readonly int _fields;
    private int _offset;
    private int _field;
    private int _end;

    /// <summary>Begins to read a row, and checks its offsets.</summary>
    /// <param name="row">The row, which must not change while it is read.</param>
    /// <param name="tableName">The name of its table, for messages.</param>
    /// <param name="rowId">Its id.</param>
    /// <exception cref="RowFormatException">The bytes are not a row.</exception>
    internal RowReader(ReadOnlySpan<byte> row, string tableName, long rowId)
    {
        if (RowLayout.FindFault(row) is { } fault)
            throw RowFormatException.OnRead(tableName, rowId, fault);
        _row = row;
        _tableName = tableName;
        RowId = rowId;
        _fields = RowLayout.FieldCount(row);
        _endsStart = RowLayout.EndsStart(row);
        _isWide = RowLayout.IsWide(row);
        _offset = _fixedStart = RowLayout.FixedStart(row);
        _variableStart = RowLayout.VariableStart(row);
    }

    /// <summary>The version of the table definition with which the row was written: it shows which fields the row has.</summary>
    public readonly int Version => _row.IsEmpty ? 0 : RowLayout.DefinitionVersion(_row);

    /// <summary>The version of the row, which rises with each change.</summary>
    public readonly RowVersion RowVersion => _row.IsEmpty ? RowVersion.None : RowLayout.Version(_row);

    /// <summary>The id of the row in its table.</summary>
    public readonly long RowId { get; }

    /// <summary>True if bytes of fixed fields have not been read yet.</summary>
    public readonly bool HasMoreFixed => _offset < _variableStart;

    /// <summary>True if variable fields have not been read yet.</summary>
    public readonly bool HasMoreVariable => _field < _fields;

    /// <summary>Skips a variable field and returns true if it is null. Returns false, with nothing read, if it has a value.</summary>
    /// <exception cref="RowFormatException">The row has no further variable field.</exception>
    public bool TryReadNull()
    {
        RequireField();
        RowLayout.End(_row, _endsStart, _isWide, _field, out var isNull);
        if (isNull)
            _field++;
        return isNull;
    }

    /// <summary>Reads a variable field as text.</summary>
    /// <exception cref="RowFormatException">The row has no further variable field, or it is null, or its bytes are not UTF-8.</exception>
    public string ReadString()
    {
        var utf8 = ReadBytes();
        if (KeyReader.Decode(utf8) is not { } text)
            throw Failure($"its variable field {_field - 1} is read as text, but its bytes are not UTF-8");
        return text;
    }

    /// <summary>Reads a variable field as text, or null.</summary>
    /// <exception cref="RowFormatException">The row has no further variable field, or its bytes are not UTF-8.</exception>
    public string? ReadNullableString() => TryReadNull() ? null : ReadString();

    /// <summary>Reads a variable field: its bytes, or the bytes of its text in UTF-8.</summary>
    /// <returns>A part of the row, valid as long as the row.</returns>
    /// <exception cref="RowFormatException">The row has no further variable field, or it is null: see <see cref="TryReadNull"/>.</exception>
    public ReadOnlySpan<byte> ReadBytes()
    {
        RequireField();
        var end = RowLayout.End(_row, _endsStart, _isWide, _field, out var isNull);
        if (isNull)
            Refuse($"its variable field {_field} is null, but read as one that has a value");
        var value = _row[(_variableStart + _end)..(_variableStart + end)];
        _end = end;
        _field++;
        return value;
    }

    /// <summary>Throws the exception for a row that cannot be read.</summary>
    /// <param name="problem">The problem: the end of a sentence.</param>
    [DoesNotReturn]
    internal readonly void Refuse(string problem) => throw Failure(problem);

    /// <summary>Returns the exception for a row that cannot be read.</summary>
    internal readonly RowFormatException Failure(string problem, Exception? cause = null) =>
        RowFormatException.OnRead(_tableName ?? "", RowId, $"{problem} (version {Version} of the definition)", cause);

    private readonly void RequireField()
    {
        if (_field == _fields)
            Refuse($"it has {_fields} variable fields, and a read of another one");
    }

    /// <summary>Moves past the next bytes of the fixed part.</summary>
    private ReadOnlySpan<byte> Take(int size, string type)
    {
        if (size > _variableStart - _offset)
        {
            Refuse($"its fixed part has {_variableStart - _fixedStart} bytes, of which {_variableStart - _offset} are left, " +
                $"and {type} is read ({size} bytes)");
        }

        var field = _row.Slice(_offset, size);
        _offset += size;
        return field;
    }

    /// <summary>Throws the exception for the last bytes read, which are not a valid value.</summary>
    [DoesNotReturn]
    private readonly void RefuseValue(string type, int size) =>
        Refuse($"the bytes at offset {_offset - size - _fixedStart} of its fixed part are those of no {type}");
}
