using Voron.Testing;
using Voron.Transactions;

namespace Voron.Dropping;

/// <summary>Ends the steps of a drop early when other writers wait, and leaves those writers as much time as the drop takes.</summary>
/// <remarks>
/// <para>
/// A step frees one slice of pages after the other. If no other caller waits, it continues to the full number of pages, because each step costs a
/// durable commit. It ends early when another caller waits for the writer, but not before <see cref="LeastHold"/>: many tiny steps would keep the
/// writer busy with commits.
/// </para>
/// <para>
/// A caller that blocks no thread, like this one, gets the writer as soon as the holder releases it. Without a pause, each commit during a drop
/// would therefore wait for one step. The drop owes the time of each step that kept a caller waiting, and pays with time in which it does not
/// request the writer: the wait for its own commit counts, and a pause of one tick of the system's timer pays the rest. A longer tick pays for
/// more steps.
/// </para>
/// </remarks>
/// <param name="writer">The lock of the writer.</param>
/// <param name="clock">The clock; null for that of the system.</param>
internal sealed class DropPace(WriterLock writer, TimeProvider? clock = null)
{
    /// <summary>The number of pages freed between two checks for waiting callers.</summary>
    public const int PagesOfSlice = 16;

    /// <summary>The number of pages up to which a tree is freed in one step, even if callers wait.</summary>
    public const int PagesAtOnce = 128;

    private static readonly TimeSpan LeastHold = TimeSpan.FromMicroseconds(500);
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(1);

    private readonly TimeProvider _clock = clock ?? TimeProvider.System;
    private long _taken;
    private long _released;
    private TimeSpan _owed;

    /// <summary>True if the step is to end now.</summary>
    public bool IsOver => writer.HasQueue && _clock.GetElapsedTime(_taken) >= LeastHold;

    /// <summary>Notes that a step has obtained the writer.</summary>
    public void Begin() => _taken = _clock.GetTimestamp();

    /// <summary>Notes that a step is about to release the writer.</summary>
    public void End()
    {
        _released = _clock.GetTimestamp();
        if (writer.HasQueue)
            _owed += _clock.GetElapsedTime(_taken, _released);
    }

    /// <summary>Waits until the next step may request the writer.</summary>
    public async ValueTask WaitAsync(CancellationToken stop)
    {
        if (_owed >= Tick && _owed - _clock.GetElapsedTime(_released) >= Tick)
            await SchedulePoint.Pause(Tick, stop, _clock).ConfigureAwait(false);
        _owed -= _clock.GetElapsedTime(_released);
        if (_owed < TimeSpan.Zero)
            _owed = TimeSpan.Zero;
    }
}
