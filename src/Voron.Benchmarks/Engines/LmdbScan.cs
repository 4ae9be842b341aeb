using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Peers.LmdbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>A read transaction with a cursor over one database. Disposing it ends both.</summary>
internal readonly unsafe ref struct LmdbScan
{
    private readonly nint _transaction;
    private readonly nint _cursor;

    public LmdbScan(LmdbEngine engine, uint database)
    {
        _transaction = engine.BeginReading();
        nint cursor;
        var code = OpenCursor(_transaction, database, &cursor);
        if (code != Success)
            AbortTransaction(_transaction);
        LmdbEngine.Check(code);
        _cursor = cursor;
    }

    /// <summary>Moves the cursor.</summary>
    /// <param name="key">The key that the operation looks for; receives that of the place.</param>
    /// <param name="data">The value that the operation looks for; receives that of the place, valid until the end of the transaction.</param>
    /// <param name="operation">One of the cursor operations of <see cref="LmdbNative"/>.</param>
    /// <returns>False if there is no such place.</returns>
    public bool TryMove(LmdbValue* key, LmdbValue* data, int operation) => LmdbEngine.Found(MoveCursor(_cursor, key, data, operation));

    public void Dispose()
    {
        CloseCursor(_cursor);
        AbortTransaction(_transaction);
    }
}
