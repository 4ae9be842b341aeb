namespace Voron.Torture.Model;

/// <summary>A clock on which every wait of the scrubber is a moment: its slices follow each other as closely as possible.</summary>
internal sealed class HurriedClock : ScrubClock
{
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(1);

    public override bool Wait(TimeSpan time, CancellationToken stop) => stop.WaitHandle.WaitOne(Moment);
}
