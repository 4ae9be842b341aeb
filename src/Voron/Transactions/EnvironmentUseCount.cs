using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Counts the users of an environment's memory and files, which are released when it is closed and the last user has ended.</summary>
/// <remarks>
/// <code>
///   open ──Close──▶ closed, as long as there are users ──the last one ends──▶ released
/// </code>
/// One word counts all kinds of users: a reader costs one interlocked operation. The environment itself is a user until it is closed. From then on
/// the count only decreases: a late user is refused without being counted, so closing never waits for it.
/// </remarks>
internal sealed class EnvironmentUseCount
{
    private const long Reader = 1;
    private const long Writer = 1L << 32;
    private const long Call = 1L << 40;
    private const long Environment = 1L << 60;

    /// <summary>The interval at which a wait checks whether user code runs.</summary>
    private const int LookMilliseconds = 50;

    private readonly object _callsEnded = new();
    private long _users = Environment;
    private int _work;
    private int _isReleased;
    private volatile bool _hasReleased;

    /// <summary>The directory, for messages.</summary>
    public string Path { get; set; } = "";

    /// <summary>Releases everything; called once, by the thread of the last user.</summary>
    public Action? Released { get; set; }

    /// <summary>The number of open read transactions.</summary>
    public int OpenReaders => (int)(Volatile.Read(ref _users) & (Writer - 1));

    /// <summary>True while a write transaction is open.</summary>
    public bool HasWriter => (Volatile.Read(ref _users) & (Call - 1)) >= Writer;

    public bool IsReleased => Volatile.Read(ref _isReleased) != 0;

    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public void AddReader() => Add(Reader);

    public void RemoveReader() => Remove(Reader);

    /// <inheritdoc cref="AddReader"/>
    public void AddWriter() => Add(Writer);

    public void RemoveWriter() => Remove(Writer);

    /// <summary>Counts a call that ends on its own soon after the environment is closed.</summary>
    /// <inheritdoc cref="AddReader"/>
    public void AddCall() => Add(PlantedFault.CountNoCalls ? 0 : Call);

    /// <summary>As <see cref="AddCall"/>; false when the environment is closed.</summary>
    public bool TryAddCall() => TryAdd(PlantedFault.CountNoCalls ? 0 : Call);

    public void RemoveCall() => Remove(PlantedFault.CountNoCalls ? 0 : Call);

    /// <summary>
    /// Counts the engine's own work on pool threads as a call. It observes <see cref="EngineCore.Closing"/>, so closing waits for it longer than for
    /// calls.
    /// </summary>
    /// <returns>False when the environment is closed.</returns>
    public bool TryAddWork()
    {
        // Counted first: closing must not miss work that is already counted as a call.
        Interlocked.Increment(ref _work);
        if (TryAddCall())
            return true;
        EndWork();
        return false;
    }

    public void RemoveWork()
    {
        EndWork();
        RemoveCall();
    }

    /// <summary>Waits until the engine's own work has ended, after closing was announced. Returns earlier if the time runs out.</summary>
    /// <param name="longest">The longest time to wait.</param>
    /// <param name="longestForUser">The longest time to wait while user code runs, possibly on a thread of that work.</param>
    /// <param name="isUserCalled">Returns whether user code runs.</param>
    public void WaitForWork(TimeSpan longest, TimeSpan longestForUser, Func<bool> isUserCalled)
    {
        var began = System.Environment.TickCount64;
        var quietAt = began;
        var isInterrupted = false;
        using (Uninterrupted.Hold(_callsEnded))
        {
            while (Volatile.Read(ref _work) > 0)
            {
                var now = System.Environment.TickCount64;
                if (!isUserCalled())
                    quietAt = now;
                if (now - began >= longest.TotalMilliseconds || now - quietAt >= longestForUser.TotalMilliseconds)
                    break;
                Uninterrupted.Wait(_callsEnded, LookMilliseconds, ref isInterrupted);
            }
        }

        Uninterrupted.PassOn(isInterrupted);
    }

    /// <summary>Refuses new users; memory and files are released with the last user.</summary>
    public void Close()
    {
        SchedulePoint.Reach(SchedulePlace.Closing);
        Debug.Assert(Volatile.Read(ref _users) >= Environment, "An environment must be closed only once.");
        Remove(Environment);
    }

    /// <summary>
    /// Waits until no call is under way in the closed environment and, if there is no other user, everything has been released, perhaps by
    /// the thread of the last call. Returns earlier if the time runs out.
    /// </summary>
    /// <param name="longest">The longest time to wait.</param>
    /// <param name="isWriterFree">
    /// True if the writer was free after closing had begun, so that no write transaction is open: one that is still counted has released the
    /// writer and is about to end.
    /// </param>
    public void WaitForCalls(TimeSpan longest, bool isWriterFree)
    {
        var least = isWriterFree ? Writer : Call;
        var deadline = System.Environment.TickCount64 + (long)longest.TotalMilliseconds;
        var isInterrupted = false;
        using (Uninterrupted.Hold(_callsEnded))
        {
            while ((Volatile.Read(ref _users) & (Environment - 1)) >= least || IsReleasing)
            {
                var left = deadline - System.Environment.TickCount64;
                if (left <= 0 || !Uninterrupted.Wait(_callsEnded, (int)left, ref isInterrupted))
                    break;
            }
        }

        // Passed on instead of thrown, because the caller has more to close.
        Uninterrupted.PassOn(isInterrupted);
    }

    // The last user has ended, and its thread may still be closing files.
    private bool IsReleasing => !_hasReleased && (Volatile.Read(ref _users) == 0 || IsReleased);

    private void EndWork()
    {
        if (Interlocked.Decrement(ref _work) > 0)
            return;
        using (Uninterrupted.Hold(_callsEnded))
            SchedulePoint.PulseAll(_callsEnded);
    }

    private void Add(long kind)
    {
        if (!TryAdd(kind))
            ThrowClosed();
    }

    private bool TryAdd(long kind)
    {
        var users = Volatile.Read(ref _users);
        while (users >= Environment)
        {
            SchedulePoint.Reach(SchedulePlace.Closing);
            var found = Interlocked.CompareExchange(ref _users, users + kind, users);
            if (found == users)
                return true;
            users = found;
        }

        return false;
    }

    [DoesNotReturn]
    private void ThrowClosed() => throw EndedErrors.Environment(Path);

    private void Remove(long kind)
    {
        var left = Interlocked.Add(ref _users, -kind);
        Debug.Assert(left >= 0, "No user may be removed that was not counted.");
        Debug.Assert((left & (Writer - 1)) <= int.MaxValue, "No reader may be removed that was not counted.");
        if (left >= Environment)
            return;
        var releases = left == 0 && Interlocked.Exchange(ref _isReleased, 1) == 0;
        try
        {
            if (releases)
            {
                Debug.Assert(Volatile.Read(ref _users) == 0, "Everything must be released by the last user, after which there is none.");
                Released?.Invoke();
            }
        }
        finally
        {
            if (releases)
                _hasReleased = true;
            if (releases || kind >= Writer)
            {
                using (Uninterrupted.Hold(_callsEnded))
                    SchedulePoint.PulseAll(_callsEnded);
            }
        }
    }
}
