using System.Buffers.Binary;
using System.Text;
using Voron.Tables;

namespace Voron.Torture.Tables;

/// <summary>The kind of keys that a table has.</summary>
internal abstract class TableKind<TKey>
{
    /// <summary>True if the key of a row is its id.</summary>
    public abstract bool HasRowIds { get; }

    /// <summary>Returns the definition without indexes.</summary>
    public abstract TableDefinition<TKey, TableRow> Define(string name, int version);

    public abstract TKey KeyOf(TableRow row);

    /// <summary>Returns the key of a row, as the model has it; null if a row cannot have it.</summary>
    public abstract string? Encode(TableRow row);

    /// <summary>Returns the definition with indexes.</summary>
    public TableDefinition<TKey, TableRow> Define(string name, int version, IEnumerable<TableIndex> indexes, RowTraps traps) =>
        indexes.Aggregate(Define(name, version), (definition, index) => index.AddTo(definition, traps));
}

/// <summary>Tables whose keys are text, in an index of their own.</summary>
internal sealed class TextKind : TableKind<string>
{
    public override bool HasRowIds => false;

    public override TableDefinition<string, TableRow> Define(string name, int version) =>
        TableDefinition.Create(name, version, new TableRowCodec(), KeyCodec.Utf8, static row => row.Name);

    public override string KeyOf(TableRow row) => row.Name;

    public override string? Encode(TableRow row) => row.Name.Length == 0 ? null : ModelKey.Of(Encoding.UTF8.GetBytes(row.Name));
}

/// <summary>Tables whose keys are row ids.</summary>
internal sealed class RowIdKind : TableKind<long>
{
    private const long MaxRowId = (1L << 48) - 1;

    public override bool HasRowIds => true;

    public override TableDefinition<long, TableRow> Define(string name, int version) =>
        TableDefinition.CreateWithRowIds(name, version, new TableRowCodec(), static row => row.Number);

    public override long KeyOf(TableRow row) => row.Number;

    public override string? Encode(TableRow row)
    {
        if (row.Number is < 0 or > MaxRowId)
            return null;
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(bytes, row.Number);
        return ModelKey.Of(bytes[2..]);
    }
}
