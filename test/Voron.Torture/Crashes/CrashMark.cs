namespace Voron.Torture.Crashes;

/// <summary>A note in the trace of a disk: how many commits of the workload have begun, and how many are known to be durable.</summary>
internal sealed record CrashMark(int Acknowledged, int Submitted);
