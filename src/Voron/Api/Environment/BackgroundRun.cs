using Microsoft.Extensions.Logging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron;

/// <summary>Work that a layer above does on an open environment in the background: one run at a time, which closing cancels and waits for.</summary>
/// <remarks>
/// <code>
///   idle ──the owner asks for a run, and one is due or urgent──▶ running on the thread pool ──the work has ended──▶ idle
/// </code>
/// It does not refer to the environment, whose files use those of its owners.
/// </remarks>
/// <param name="engine">The engine of the environment.</param>
/// <param name="clock">The clock by which the work judges age.</param>
/// <param name="beginRead">Begins a read transaction.</param>
/// <param name="beginWrite">Begins a write transaction.</param>
/// <param name="write">Runs an operation of a group commit.</param>
internal sealed class BackgroundRun(
    ReadingEngine engine, TimeProvider clock, Func<ReadTransaction> beginRead, Func<CancellationToken, ValueTask<WriteTransaction>> beginWrite,
    Func<Func<WriteTransaction, long>, CancellationToken, ValueTask<long>> write) : IThreadPoolWorkItem
{
    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // Used only by the run, of which there is one at a time.
    private readonly SteadyClock _clock = engine.CreateDeletionClock(clock);
    private long _ranAtTick = Environment.TickCount64 - (long)LongestPause.TotalMilliseconds;

    // 1 while a run is queued, 2 while it runs.
    private int _isRunning;

    /// <summary>
    /// The work. Set once, before the first run. It logs its own failures, including that of <see cref="ReadClock"/>, and throws only if the
    /// environment is being closed.
    /// </summary>
    public Func<CancellationToken, Task> Work { get; set; } = static _ => Task.CompletedTask;

    /// <summary>Returns the current time in ticks. Called by the work.</summary>
    public long ReadClock() => _clock.Read();

    /// <summary>True if the environment works in the background.</summary>
    public bool IsEnabled => engine.Options.BackgroundFlush;

    /// <summary>The path of the environment, for messages.</summary>
    public string Path => engine.Disk.Path;

    public ILogger Logger => engine.Logger;

    public StorageOptions Options => engine.Options;

    public ReadTransaction BeginRead() => beginRead();

    public ValueTask<WriteTransaction> BeginWriteAsync(CancellationToken stop) => beginWrite(stop);

    /// <summary>Runs an operation of a group commit.</summary>
    public ValueTask<long> WriteAsync(Func<WriteTransaction, long> operation, CancellationToken stop) => write(operation, stop);

    /// <summary>Commits a transaction of the work, under a test schedule on its thread.</summary>
    public static ValueTask CommitAsync(WriteTransaction writing) => SchedulePoint.UntilCompleted(writing.CommitAsync(CancellationToken.None));

    /// <summary>
    /// Begins a run, unless one is under way, or none is due: it is not urgent, and the last one began less than a minute ago. Called by the holder
    /// of the writer. Throws nothing.
    /// </summary>
    /// <returns>True if a run was begun.</returns>
    public bool TryBegin(bool isUrgent = false)
    {
        var isDue = isUrgent || Environment.TickCount64 - _ranAtTick >= LongestPause.TotalMilliseconds;
        if (!isDue || !IsEnabled || Interlocked.CompareExchange(ref _isRunning, 1, 0) != 0)
            return false;
        if (PoolWork.TryQueueToSchedule(this))
        {
            _ranAtTick = Environment.TickCount64;
            return true;
        }

        // The next call tries again.
        Volatile.Write(ref _isRunning, 0);
        return false;
    }

    void IThreadPoolWorkItem.Execute()
    {
        if (Interlocked.CompareExchange(ref _isRunning, 2, 1) == 1)
            _ = RunAsync();
    }

    // Never throws.
    private async Task RunAsync()
    {
        try
        {
            if (!engine.Users.TryAddWork())
                return;
            try
            {
                await Work(engine.Closing.Token).ConfigureAwait(false);
            }
            finally
            {
                engine.Users.RemoveWork();
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // The environment is being closed. The next opening continues.
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }
}
