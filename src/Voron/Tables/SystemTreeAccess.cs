using Voron.Trees;

namespace Voron.Tables;

/// <summary>A transaction as tables see it: the system trees, by the bytes of their names.</summary>
internal readonly struct SystemTreeAccess
{
    private readonly ReadTransaction _reading;
    private readonly WriteTransaction _writing;
    private readonly bool _canWrite;

    public SystemTreeAccess(ReadTransaction transaction) => _reading = transaction;

    public SystemTreeAccess(WriteTransaction transaction)
    {
        _writing = transaction;
        _canWrite = true;
    }

    /// <summary>True in a write transaction.</summary>
    public bool CanWrite => _canWrite;

    public string DataFilePath => _canWrite ? _writing.DataFilePath : _reading.DataFilePath;

    /// <summary>The current time for expiry, in milliseconds since 1970: the same for the whole transaction.</summary>
    public long Now => _canWrite ? _writing.Now : _reading.Now;

    /// <summary>The maximum length of a key in bytes.</summary>
    public int MaxKeyLength => _canWrite ? _writing.MaxKeyLength : _reading.MaxKeyLength;

    /// <summary>The write transaction. Used only by tables that were opened in one.</summary>
    public WriteTransaction Writing => _writing;

    /// <summary>Opens a tree of entries; false if it does not exist.</summary>
    public bool TryOpen(ReadOnlySpan<byte> name, out Tree tree)
    {
        if (!_canWrite)
            return _reading.TryFindTree(name, out tree);
        var found = _writing.FindSystemTree(name);
        tree = found.GetValueOrDefault();
        return found.HasValue;
    }

    /// <summary>Reads the schema of a table; null if it does not exist.</summary>
    /// <param name="name">The name of the table.</param>
    /// <param name="key">Its <see cref="SchemaKeys.Table"/>.</param>
    /// <exception cref="CorruptionException">The schema is damaged.</exception>
    public TableSchema? FindSchema(string name, ReadOnlySpan<byte> key) =>
        TryOpen(SystemTree.Schemas, out Tree schemas) && schemas.TryGet(key, out var bytes) ? TableSchema.Parse(name, bytes, DataFilePath) : null;

    /// <summary>Opens a tree of id sets; false if it does not exist.</summary>
    public bool TryOpen(ReadOnlySpan<byte> name, out IdTree tree)
    {
        if (!_canWrite)
            return _reading.TryFindTree(name, out tree);
        var found = _writing.FindSystemIdTree(name);
        tree = found.GetValueOrDefault();
        return found.HasValue;
    }
}
