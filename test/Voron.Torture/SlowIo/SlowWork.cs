using System.Diagnostics.CodeAnalysis;
using Voron.Simulation.Harness;

namespace Voron.Torture.SlowIo;

/// <summary>The calls and the steps of work that the threads of a run make on its environment.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is turned into an ordinary one, or its result is taken once.")]
internal sealed class SlowWork(SlowLedger ledger)
{
    public const int Steps = 10;

    public const int UseAndFreeStep = 5;

    public const int ReclaimStep = 6;

    private static readonly TimeSpan ShortWait = TimeSpan.FromMilliseconds(20);

    private volatile bool _readFails;

    /// <summary>The environment; null until it is open.</summary>
    public StorageEnvironment? Environment { get; set; }

    /// <summary>True if reads of the disk fail, or have failed.</summary>
    public bool ReadFails
    {
        get => _readFails;
        set => _readFails = value;
    }

    private StorageEnvironment Opened => Environment!;

    public void Call(SlowCall call)
    {
        switch (call)
        {
            case SlowCall.Dispose:
                Opened.Dispose();
                break;
            case SlowCall.Flush:
                Do(4);
                break;
            case SlowCall.ReclaimSpace:
                Do(ReclaimStep);
                break;
            case SlowCall.Verify:
                Verify();
                break;
            case SlowCall.Write:
                Do(0);
                break;
            case SlowCall.WriteLarge:
                Do(1);
                break;
            case SlowCall.WriteStream:
                Write(ledger.Add(30_000), ledger.PutStream);
                break;
            case SlowCall.WriteStaged:
                WriteStaged();
                break;
            case SlowCall.WriteGroupCommit:
                var key = ledger.Add(400);
                ledger.Commit(key, () => Opened.Write(writing => ledger.Put(writing, key)));
                break;
            case SlowCall.WriteAsync:
                Do(3);
                break;
            case SlowCall.CommitAsync:
                Do(2);
                break;
            case SlowCall.RollBack:
                RollBack();
                break;
            case SlowCall.Nested:
                Write(ledger.Add(300), WriteNested);
                break;
            case SlowCall.BeginWrite:
                Opened.BeginWrite(ShortWait).Dispose();
                break;
            case SlowCall.BeginWriteAsync:
                // The call returns at once; the transaction that it requests ends when it can.
                _ = Opened.BeginWriteAsync().AsTask().ContinueWith(
                    begun => begun.Result.Dispose(), CancellationToken.None, TaskContinuationOptions.OnlyOnRanToCompletion, TaskScheduler.Default);
                break;
            case SlowCall.BeginRead:
                Opened.BeginRead().Dispose();
                break;
            case SlowCall.GetStatistics:
                _ = Opened.GetStatistics().PageCount;
                break;
            case SlowCall.JournalSnapshot:
                Opened.Internals.WriteJournalSnapshot();
                break;
            case SlowCall.TrimMemory:
                Opened.Internals.TrimMemory();
                break;
            default:
                using (var reading = Opened.BeginRead())
                    ledger.Read(reading, (SlowReading)(call - SlowCall.ReadCursor));
                break;
        }
    }

    /// <summary>Makes one step of a working thread.</summary>
    public void Do(int step)
    {
        switch (step)
        {
            case 0:
                Write(ledger.Add(200), ledger.Put);
                break;
            case 1:
                Write(ledger.Add(50_000), ledger.Put);
                break;
            case 2:
                Write(ledger.Add(200), ledger.Put, wait: false);
                break;
            case 3:
                var key = ledger.Add(300);
                ledger.Commit(key, () => Opened.WriteAsync(writing => ledger.Put(writing, key)).AsTask().GetAwaiter().GetResult());
                break;
            case 4:
                Opened.Flush();
                break;
            case UseAndFreeStep:
                UseAndFree();
                break;
            case ReclaimStep:
                Opened.ReclaimSpace();
                break;
            case 7:
                Opened.Internals.WriteJournalSnapshot();
                break;
            case 8:
                Call(SlowCall.Verify);
                break;
            default:
                Call(SlowCall.ReadStreams);
                break;
        }
    }

    /// <summary>Commits a key in an environment, which need not be that of the other calls.</summary>
    public void Commit(StorageEnvironment environment, int key)
    {
        using var writing = environment.BeginWrite();
        ledger.Put(writing, key);
        writing.Commit();
    }

    private void Verify()
    {
        var report = Opened.Verify();

        // Data that cannot be read is a problem that the report has to contain.
        BrokenPromiseException.Require(report.IsSound || ReadFails, $"meanwhile: {report}");
    }

    private void RollBack()
    {
        var refused = ledger.Add(30_000);
        ledger.Refuse(refused);
        using var writing = Opened.BeginWrite();
        ledger.Put(writing, refused);
    }

    private void WriteStaged()
    {
        var key = ledger.Add(120_000);
        ledger.Commit(key, () =>
        {
            using var staged = ledger.Stage(Opened, key);
            using var writing = Opened.BeginWrite();
            SlowLedger.Put(writing, key, staged);
            writing.Commit();
        });
    }

    private void WriteNested(WriteTransaction writing, int key)
    {
        using (var undone = writing.BeginNested())
            writing.CreateTree("undone").Put([1], new byte[20_000]);
        using var kept = writing.BeginNested();
        ledger.Put(writing, key);
        kept.Commit();
    }

    private void Write(int key, Action<WriteTransaction, int> put, bool wait = true) => ledger.Commit(key, () =>
    {
        using var writing = Opened.BeginWrite();
        put(writing, key);
        if (wait)
            writing.Commit();
        else
            writing.CommitAsync().AsTask().GetAwaiter().GetResult();
    });

    // Leaves whole sections free, to be returned.
    private void UseAndFree()
    {
        using (var writing = Opened.BeginWrite())
        {
            writing.CreateTree("ballast").Put([1], new byte[5 << 20]);
            writing.Commit();
        }

        // Placed behind the ballast, so that the file is not only truncated.
        Do(1);
        using (var writing = Opened.BeginWrite())
        {
            writing.DeleteTree("ballast");
            writing.Commit();
        }
        Opened.Flush();
    }
}
