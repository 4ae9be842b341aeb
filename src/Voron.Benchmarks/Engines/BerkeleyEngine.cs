using System.Diagnostics.CodeAnalysis;
using static Voron.Benchmarks.Peers.BerkeleyNative;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// Berkeley DB: a B-tree in a transactional environment whose commits sync the log, which is the default. This class does what the manual leaves
/// to the application: checkpoints, removal of old logs, detection of deadlocks, and lock tables large enough for large transactions.
/// </summary>
internal sealed unsafe class BerkeleyEngine : BenchmarkEngine
{
    private const string FileName = "items.db";
    private const uint EnvironmentFlags = Create | Recover | Threaded | WithLocks | WithLog | WithCache | WithTransactions;
    private const uint MaxLocks = 1_000_000;
    private const uint CheckpointKilobytes = 64 << 10;
    private const int CommitsBetweenCheckpointChecks = 100;

    private readonly nint _environment;
    private readonly nint _database;
    private nint _write;
    private int _commits;

    public BerkeleyEngine(string directory)
    {
        nint environment;
        Check(CreateEnvironment(&environment, 0));
        _environment = environment;
        Check(SetDeadlockRule(environment, RejectFewestWriteLocks));
        Check(SetMaxLocks(environment, MaxLocks));
        Check(SetMaxLockedObjects(environment, MaxLocks));
        Check(SetLogFlags(environment, RemoveLogs, 1));
        Check(OpenEnvironment(environment, directory, EnvironmentFlags, 0));
        nint database;
        Check(CreateDatabase(&database, environment, 0));
        _database = database;
        Check(OpenDatabase(database, 0, FileName, null, BTree, Create | AutoCommit | Threaded, 0));
    }

    public override string Settings =>
        $"{Marshal.PtrToStringUTF8((nint)Version(null, null, null)) ?? "Berkeley DB"}; B-tree, default cache and page size; transactions, each commit "
        + $"syncs the log; checkpoint after {CheckpointKilobytes >> 10} MiB of log; {MaxLocks:N0} locks; concurrent callers share a lock";

    public override void BeginWrite()
    {
        nint transaction;
        Check(BeginTransaction(_environment, 0, &transaction, 0));
        _write = transaction;
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        fixed (byte* keyData = key, valueData = value)
        {
            var nativeKey = BerkeleyValue.Input(keyData, key.Length);
            var nativeValue = BerkeleyValue.Input(valueData, value.Length);
            Check(BerkeleyNative.Put(_database, _write, &nativeKey, &nativeValue, 0));
        }
    }

    public override bool Delete(ReadOnlySpan<byte> key)
    {
        fixed (byte* keyData = key)
        {
            var nativeKey = BerkeleyValue.Input(keyData, key.Length);
            var code = BerkeleyNative.Delete(_database, _write, &nativeKey, 0);
            if (code != NotFound)
                Check(code);
            return code == 0;
        }
    }

    public override void Commit()
    {
        var transaction = _write;
        _write = 0;
        Check(CommitTransaction(transaction, 0));
        if (++_commits % CommitsBetweenCheckpointChecks == 0)
            Check(Checkpoint(_environment, CheckpointKilobytes, 0, 0));
    }

    public override BenchmarkReader CreateReader() => new Reader(_database);

    public override void Dispose()
    {
        if (_write != 0)
            _ = AbortTransaction(_write);
        _ = CloseDatabase(_database, 0);
        _ = Checkpoint(_environment, 0, 0, 0);
        _ = CloseEnvironment(_environment, 0);
    }

    internal static void Check(int code)
    {
        if (code != 0)
            Throw(code);
    }

    [DoesNotReturn]
    private static void Throw(int code) => throw new BenchmarkException($"Berkeley DB: {Marshal.PtrToStringUTF8((nint)ErrorText(code))} ({code})");

    /// <summary>
    /// Gets and scans outside a transaction, with short locks, because this engine has no snapshots by default. A get that fails in a
    /// deadlock with the writer is repeated. Values are copied, because a threaded handle requires it.
    /// </summary>
    private sealed class Reader(nint database) : BenchmarkReader
    {
        private const int FirstCapacity = 4096;

        private byte* _key = (byte*)NativeMemory.Alloc(FirstCapacity);
        private byte* _value = (byte*)NativeMemory.Alloc(FirstCapacity);
        private int _valueCapacity = FirstCapacity;
        private nint _cursor;

        public override void Begin()
        {
        }

        public override void End()
        {
            if (_cursor != 0)
                Check(CloseCursor(_cursor));
            _cursor = 0;
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            fixed (byte* keyData = key)
            {
                var nativeKey = BerkeleyValue.Input(keyData, key.Length);
                while (true)
                {
                    var nativeValue = BerkeleyValue.Output(_value, _valueCapacity);
                    var code = Get(database, 0, &nativeKey, &nativeValue, 0);
                    if (code == Deadlock || TryGrow(code, nativeValue.Size))
                        continue;
                    value = new ReadOnlySpan<byte>(_value, (int)nativeValue.Size);
                    return Found(code);
                }
            }
        }

        public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(PrepareCursor(), First, out key, out value);

        public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(PrepareCursor(), Last, out key, out value);

        public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(_cursor, Next, out key, out value);

        public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Move(_cursor, Previous, out key, out value);

        public override void Dispose()
        {
            End();
            NativeMemory.Free(_key);
            NativeMemory.Free(_value);
            _key = null;
            _value = null;
        }

        private bool Move(nint cursor, uint operation, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
        {
            while (true)
            {
                var nativeKey = BerkeleyValue.Output(_key, FirstCapacity);
                var nativeValue = BerkeleyValue.Output(_value, _valueCapacity);
                var code = MoveCursor(cursor, &nativeKey, &nativeValue, operation);
                if (TryGrow(code, nativeValue.Size))
                    continue;
                key = new ReadOnlySpan<byte>(_key, (int)nativeKey.Size);
                value = new ReadOnlySpan<byte>(_value, (int)nativeValue.Size);
                return Found(code);
            }
        }

        /// <summary>A cursor whose call failed for lack of room has not moved, so the call can be repeated.</summary>
        private bool TryGrow(int code, uint neededBytes)
        {
            if (code != BufferSmall)
                return false;
            _valueCapacity = (int)Math.Max(neededBytes, (uint)_valueCapacity + 1);
            NativeMemory.Free(_value);
            _value = (byte*)NativeMemory.Alloc((nuint)_valueCapacity);
            return true;
        }

        private nint PrepareCursor()
        {
            if (_cursor != 0)
                return _cursor;
            nint cursor;
            Check(OpenCursor(database, 0, &cursor, 0));
            _cursor = cursor;
            return cursor;
        }

        private static bool Found(int code)
        {
            if (code != NotFound)
                Check(code);
            return code == 0;
        }
    }
}
