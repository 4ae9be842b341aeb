using System.Text;
using Voron.Tables;
using Voron.Tool.Dumps;
using Voron.Trees;

namespace Voron.Tool.Contents;

/// <summary>A table: its rows by their primary keys, without the program's definition. Leaves expired rows out: programs do not see them.</summary>
internal sealed class TableContent : Content
{
    private readonly TableSchema _schema;
    private readonly Tree _schemas;
    private readonly Tree _rows;
    private readonly Tree _keys;
    private readonly long _now;
    private readonly string _path;

    private TableContent(ReadTransaction reading, TableSchema schema)
    {
        _path = reading.DataFilePath;
        _schema = schema;
        _schemas = OpenTree(reading, SystemTree.Schemas.ToArray());
        _rows = OpenTree(reading, SystemTree.RowsName(schema.Id));
        if (!schema.HasRowIdKeys)
            _keys = OpenTree(reading, SystemTree.IndexName(schema.Id, IndexSchema.PrimaryKey, isUnique: true));
        _now = schema.Expiring?.State == IndexState.Ready ? TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds() : RowExpiry.Never;
    }

    /// <summary>Opens a table; null if there is none of that name.</summary>
    public static TableContent? FindTable(ReadTransaction reading, string name) =>
        Encoding.UTF8.GetByteCount(name) <= SchemaKeys.MaxNameBytes
            && new SystemTreeAccess(reading).FindSchema(name, SchemaKeys.Table(name)) is { } schema
            ? new TableContent(reading, schema)
            : null;

    public override DumpSection Section => new(_schema.Name, null)
    {
        Version = _schema.Version,
        Keys = _schema.HasRowIdKeys ? null : _schema.KeyCodecName,
        NextRow = Math.Max(TableSequences.NextOfTable(_schemas, SchemaKeys.NextRow(_schema.Id)), TableSequences.BehindLastRow(_rows)),
    };

    public override bool Show(string key, EntryOutput output)
    {
        if (!TryFind(key, out var rowId, out var bytes, out var row))
            return false;
        output.Write(output.IsJson ? JsonLinesWriter.LineOfRow(rowId, KeyOf(bytes), row) : RowForm.ToLine(row));
        return true;
    }

    public override void List(KeyBounds keys, EntryOutput output) => Visit(keys, output.IsReversed, (rowId, key, row) => output.Write(
        output.IsJson ? JsonLinesWriter.LineOfRow(rowId, KeyOf(key), row) : $"{KeyOf(key) ?? $"{rowId}"}\t{RowForm.ToLine(row)}"));

    public override void Dump(KeyBounds keys, DumpWriter dump, CancellationToken stop)
    {
        if (!_schema.HasRowIdKeys && _keys.Count != _rows.Count)
        {
            throw new CorruptionException(
                $"The table '{_schema.Name}' in '{_path}' has {_rows.Count} rows and {_keys.Count} primary keys, so a dump would lack rows. The program can rebuild the keys.");
        }

        Visit(keys, isReversed: false, (rowId, key, row) =>
        {
            stop.ThrowIfCancellationRequested();
            dump.WriteRow(rowId, KeyOf(key), row);
            return true;
        });
    }

    public override byte[]? Read(string key)
    {
        if (!TryFind(key, out _, out _, out var row))
            return null;
        return RowForm.TryGetDocument(row, out var document) ? document.ToArray() : row;
    }

    private bool TryFind(string key, out long rowId, out byte[] bytes, out byte[] row)
    {
        (bytes, row) = ([], []);
        if (_schema.HasRowIdKeys)
            rowId = KeyBounds.ParseNumber(key);
        else
        {
            bytes = KeyForm.Parse(_schema.KeyCodecName, key);
            if (!_keys.TryGet(bytes, out var id) || !RowIdBytes.TryRead(id, out rowId))
            {
                rowId = -1;
                return false;
            }
        }

        return rowId is >= 0 and <= RowIdBytes.Max && TryGetRow(rowId, out row);
    }

    private bool TryGetRow(long rowId, out byte[] row)
    {
        // A copy: compressed rows that are read as spans stay in the memory of the transaction.
        var found = _rows.Get(RowIdBytes.Write(rowId, stackalloc byte[RowIdBytes.Bytes]));
        if (found == null && !_schema.HasRowIdKeys)
            throw new CorruptionException($"Row {rowId} of table '{_schema.Name}' in '{_path}' is missing, and has a primary key. Run 'voron verify'.");
        row = found ?? [];
        return found != null && !RowLayout.IsDue(Checked(rowId, row), _now);
    }

    private void Visit(KeyBounds keys, bool isReversed, RowVisitor visit)
    {
        if (_schema.HasRowIdKeys)
        {
            VisitIds(keys, isReversed, visit);
            return;
        }

        var range = _keys.Range(keys.ToRange(key => KeyForm.Parse(_schema.KeyCodecName, key)));
        foreach (var entry in isReversed ? range.Reverse() : range)
        {
            if (!RowIdBytes.TryRead(entry.Value, out var rowId))
                throw new CorruptionException(
                    $"The primary key of table '{_schema.Name}' in '{_path}' has an entry that names no row. Run 'voron verify'.");
            if (TryGetRow(rowId, out var row) && !visit(rowId, entry.Key, row))
                return;
        }
    }

    private void VisitIds(KeyBounds keys, bool isReversed, RowVisitor visit)
    {
        if (!keys.TryGetNumbers(out var first, out var last) || last < 0 || first > RowIdBytes.Max)
            return;
        Span<byte> from = stackalloc byte[RowIdBytes.Bytes];
        Span<byte> through = stackalloc byte[RowIdBytes.Bytes];
        var range = _rows.Range(
            KeyRange.From(RowIdBytes.Write(Math.Max(first, 0), from)).Through(RowIdBytes.Write(Math.Min(last, RowIdBytes.Max), through)));
        foreach (var entry in isReversed ? range.Reverse() : range)
        {
            if (!RowIdBytes.TryRead(entry.Key, out var rowId))
                throw RowLookup.NoRowId(_schema.Name, entry.Key);
            if (!RowLayout.IsDue(entry.Value, _now) && !visit(rowId, [], Checked(rowId, entry.Value)))
                return;
        }
    }

    private ReadOnlySpan<byte> Checked(long rowId, ReadOnlySpan<byte> row) =>
        RowLayout.FindFault(row) is { } fault ? throw RowFormatException.OnRead(_schema.Name, rowId, fault) : row;

    private string? KeyOf(ReadOnlySpan<byte> key) => _schema.HasRowIdKeys ? null : KeyForm.Format(_schema.KeyCodecName, key);

    private Tree OpenTree(ReadTransaction reading, byte[] name) => reading.TryFindTree(name, out Tree tree)
        ? tree
        : throw new CorruptionException(
            $"The {SystemTree.Describe(name)}, '{_schema.Name}', is missing in '{_path}'. Run 'voron verify', or restore a backup.");

    private delegate bool RowVisitor(long rowId, ReadOnlySpan<byte> key, ReadOnlySpan<byte> row);
}
