using Voron.Maintenance;

namespace Voron.Torture.Model;

/// <summary>A time in which every wait of the scrubber is a moment: its slices follow each other as closely as may be.</summary>
internal sealed class HurriedClock : ScrubClock
{
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(1);

    public override bool Wait(TimeSpan time, CancellationToken stop) => stop.WaitHandle.WaitOne(Moment);
}
