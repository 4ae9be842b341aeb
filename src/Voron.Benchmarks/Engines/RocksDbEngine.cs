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

    public RocksDbEngine(string directory, bool mergesCounters = false)
    {
        var options = CreateOptions();
        SetCreateIfMissing(options, 1);
        if (mergesCounters)
            SetMergeOfSums(options);
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

    /// <summary>The handle of the database.</summary>
    internal nint Database => _database;

    /// <summary>The bytes of the table files with the present keys. The directory may have older files for a while.</summary>
    internal long UsedBytes
    {
        get
        {
            ulong bytes;
            if (GetNumber(_database, "rocksdb.live-sst-files-size", &bytes) != 0)
                throw new BenchmarkException("RocksDB: there is no size of the table files");
            return (long)bytes;
        }
    }

    /// <summary>Merges all files of keys into one level.</summary>
    public void Compact() => CompactRange(_database, null, 0, null, 0);

    public override void BeginWrite() => ClearBatch(_batch);

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key, valueData = value)
            BatchPut(_batch, keyData, (nuint)key.Length, valueData, (nuint)value.Length);
    }

    /// <summary>Adds to a number of eight bytes, in little-endian order. The store must merge counters.</summary>
    public void Merge(ReadOnlySpan<byte> key, ReadOnlySpan<byte> operand)
    {
        fixed (byte* keyData = key, operandData = operand)
            BatchMerge(_batch, keyData, (nuint)key.Length, operandData, (nuint)operand.Length);
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
