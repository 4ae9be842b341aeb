using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using static Voron.Benchmarks.Peers.RocksDbNative;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// RocksDB with its default options. A transaction is a synced write batch. The engine does not count its keys, and a delete does not
/// report whether the key existed.
/// </summary>
internal sealed unsafe class RocksDbEngine : BenchmarkEngine
{
    private readonly nint _database;
    private readonly nint _writeOptions;
    private readonly nint _batch;

    public RocksDbEngine(string directory)
    {
        var options = CreateOptions();
        SetCreateIfMissing(options, 1);
        byte* error = null;
        _database = Open(options, directory, &error);
        DestroyOptions(options);
        Check(error);
        _writeOptions = CreateWriteOptions();
        SetSync(_writeOptions, 1);
        _batch = CreateBatch();
    }

    public override string Settings =>
        "RocksDB 7.8; default options; WriteOptions.sync for each batch; concurrent callers are threads, grouped by the engine";

    public override void BeginWrite() => ClearBatch(_batch);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key, valueData = value)
            BatchPut(_batch, keyData, (nuint)key.Length, valueData, (nuint)value.Length);
    }

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        fixed (byte* keyData = key)
            BatchDelete(_batch, keyData, (nuint)key.Length);
        return true;
    }

    public override void Commit()
    {
        byte* error = null;
        Write(_database, _writeOptions, _batch, &error);
        Check(error);
    }

    public override void PutDurable(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        byte* error = null;
        fixed (byte* keyData = key, valueData = value)
            Peers.RocksDbNative.Put(_database, _writeOptions, keyData, (nuint)key.Length, valueData, (nuint)value.Length, &error);
        Check(error);
    }

    public override BenchmarkReader CreateReader() => new RocksDbReader(_database);

    public override void Dispose()
    {
        DestroyBatch(_batch);
        DestroyWriteOptions(_writeOptions);
        Close(_database);
    }

    internal static void Check(byte* error)
    {
        if (error != null)
            Throw(error);
    }

    [DoesNotReturn]
    private static void Throw(byte* error)
    {
        var text = Marshal.PtrToStringUTF8((nint)error);
        Free(error);
        throw new BenchmarkException($"RocksDB: {text}");
    }
}
