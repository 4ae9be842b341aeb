using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using Voron.Benchmarks.Peers;
using static Voron.Benchmarks.Peers.BerkeleyNative;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// Berkeley DB: a B-tree in a transactional environment whose commits sync the log, which is the default. This class does what the
/// manual leaves to the application: checkpoints, removal of old logs, detection of deadlocks, and lock tables large enough for large
/// transactions.
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

    public override string Settings
    {
        get
        {
            var version = Marshal.PtrToStringUTF8((nint)Version(null, null, null)) ?? "Berkeley DB";
            return string.Create(
                CultureInfo.InvariantCulture,
                $"{version}; B-tree, default cache and page size; transactions, each commit syncs the log; checkpoint after "
                + $"{CheckpointKilobytes >> 10} MiB of log; {MaxLocks:N0} locks; concurrent callers share a lock");
        }
    }

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

    public override BenchmarkReader CreateReader() => new BerkeleyReader(_database);

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
    private static void Throw(int code) =>
        throw new BenchmarkException($"Berkeley DB: {Marshal.PtrToStringUTF8((nint)ErrorText(code))} ({code})");
}
