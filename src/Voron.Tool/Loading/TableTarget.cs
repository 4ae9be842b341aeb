using Voron.Tables;
using Voron.Tool.Dumps;
using Voron.Trees;

namespace Voron.Tool.Loading;

/// <summary>
/// A table without indexes, which takes rows as they are. The program builds the indexes of its definition when it evolves the table.
/// </summary>
internal sealed class TableTarget : EntryTarget
{
    private readonly string _name;
    private readonly string? _kind;
    private readonly WriteTree _rows;
    private readonly WriteTree _keys;

    private TableTarget(WriteTransaction writing, TableSchema schema)
    {
        _name = schema.Name;
        _kind = schema.HasRowIdKeys ? null : schema.KeyCodecName;
        _rows = writing.FindSystemTree(SystemTree.RowsName(schema.Id))!.Value;
        if (_kind != null)
            _keys = writing.FindSystemTree(schema.Indexes[0].TreeName(schema.Id))!.Value;
    }

    /// <exception cref="ToolException">There is a table of that name that has indexes, or another version, or keys of another kind.</exception>
    /// <inheritdoc cref="EntryTarget.Create"/>
    public static new TableTarget Create(WriteTransaction writing, DumpSection section, string name)
    {
        var schema = new SystemTreeAccess(writing).FindSchema(name, SchemaKeys.Table(name))
            ?? TableCreation.CreateEmpty(writing, name, section.Version, section.Keys);
        if (schema.Indexes.Any(index => index.Name.Length > 0))
        {
            throw new ToolException(
                ExitCode.InUse, $"The table '{name}' has indexes, which only its program can keep right. Load it under its name into an environment without it.");
        }

        var keys = schema.HasRowIdKeys ? null : schema.KeyCodecName;
        if (schema.Version != section.Version || keys != section.Keys)
        {
            throw new ToolException(
                ExitCode.InUse, $"There is a table '{name}' of another version, or with keys of another kind, than the dump's, which is {section}.");
        }

        if (writing.FindSystemTree(SystemTree.RowsName(schema.Id))!.Value.IsRecorded)
            throw new ToolException(ExitCode.InUse, $"A feed records the table '{name}', and only its program can record rows.");
        var target = new TableTarget(writing, schema);
        var schemas = writing.FindSystemTree(SystemTree.Schemas)!.Value;
        if (section.NextRow > TableSequences.NextOfTable(schemas, SchemaKeys.NextRow(schema.Id)))
            TableSequences.SaveNextOfTable(schemas, SchemaKeys.NextRow(schema.Id), section.NextRow);
        return target;
    }

    public override bool IsEmpty => _rows.Count == 0;

    /// <summary>Whether there is a row with the id, or with the key: one that a program has inserted since is left as it is.</summary>
    public override bool Has(in DumpEntry entry) =>
        _rows.Contains(RowIdBytes.Write(entry.Number, stackalloc byte[RowIdBytes.Bytes])) || (_kind != null && _keys.Contains(entry.Key));

    public override bool Delete(in DumpEntry entry) => throw new NotSupportedException();

    public override void Put(in DumpEntry entry)
    {
        Span<byte> id = stackalloc byte[RowIdBytes.Bytes];
        RowIdBytes.Write(entry.Number, id);
        if ((_kind != null && !_keys.Insert(entry.Key, id)) || !_rows.Insert(id, entry.Value))
        {
            throw new ToolException(
                ExitCode.Damaged,
                $"Line {entry.Line} of the dump has a row of table '{_name}' with the id {entry.Number} and the key '{entry.KeyText}', one of which another row has already.");
        }
    }
}
