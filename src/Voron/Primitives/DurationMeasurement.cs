namespace Voron.Primitives;

/// <summary>A duration that waits to be recorded.</summary>
internal readonly record struct DurationMeasurement(TimedWork Work, TimeSpan Duration);
