using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using static Voron.Benchmarks.Peers.SqliteNative;

namespace Voron.Benchmarks.Engines;

/// <summary>A connection with its prepared statements.</summary>
internal sealed unsafe class SqliteConnection : IDisposable
{
    private const int BusyMilliseconds = 60_000;

    private readonly List<nint> _statements = [];
    private readonly nint _handle;

    public SqliteConnection(string path, string synchronous = "FULL")
    {
        nint handle;
        var code = Open(path, &handle, OpenReadWrite | OpenCreate, 0);
        _handle = handle;
        Check(code);
        Check(SetBusyTimeout(handle, BusyMilliseconds));
        Run("PRAGMA journal_mode=WAL");
        Run($"PRAGMA synchronous={synchronous}");
    }

    public void Run(string sql) => Check(Execute(_handle, sql, 0, 0, null));

    public nint Prepare(string sql)
    {
        nint statement;
        Check(Peers.SqliteNative.Prepare(_handle, sql, -1, &statement, null));
        _statements.Add(statement);
        return statement;
    }

    /// <summary>Runs a statement that returns no row.</summary>
    public void RunPrepared(nint statement)
    {
        var code = Step(statement);
        _ = Reset(statement);
        if (code != Done)
            Throw(code);
    }

    /// <returns>True if there is a row.</returns>
    public bool StepRow(nint statement)
    {
        var code = Step(statement);
        if (code is not (Row or Done))
            Throw(code);
        return code == Row;
    }

    public static ReadOnlySpan<byte> Blob(nint statement, int column) => new(ColumnBlob(statement, column), ColumnBytes(statement, column));

    public void Check(int code)
    {
        if (code != Ok)
            Throw(code);
    }

    public void Dispose()
    {
        foreach (var statement in _statements)
            _ = Finish(statement);
        _ = Close(_handle);
    }

    [DoesNotReturn]
    private void Throw(int code) =>
        throw new BenchmarkException($"SQLite: {Marshal.PtrToStringUTF8((nint)ErrorText(_handle))} ({code})");
}
