using Voron.Simulation.Disks;

namespace Voron.Torture.SlowIo;

/// <summary>One phase of a run.</summary>
/// <param name="Holds">The calls that take long.</param>
/// <param name="Failing">The calls that fail meanwhile, or null.</param>
/// <param name="FailsOn">True if they fail until all calls have returned, not only until the first is released.</param>
/// <param name="Meanwhile">The calls that other threads make meanwhile.</param>
/// <param name="ReleaseOrder">Decides the order in which the calls are released.</param>
internal sealed record SlowPlan(
    IReadOnlyList<SlowHold> Holds, DiskCallKind? Failing, bool FailsOn, IReadOnlyList<SlowCall> Meanwhile, int ReleaseOrder)
{
    public static readonly SlowPlan Quick = new([], null, false, [], 0);

    public override string ToString() =>
        $"slow: {string.Join(", ", Holds)}; failing: {Failing?.ToString() ?? "nothing"}{(FailsOn ? ", until all have returned" : "")}; "
        + $"meanwhile: {string.Join(", ", Meanwhile)}";
}
