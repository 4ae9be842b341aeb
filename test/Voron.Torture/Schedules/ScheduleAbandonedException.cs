namespace Voron.Torture.Schedules;

/// <summary>Thrown in a thread of a schedule that has ended with a failure, to end the thread.</summary>
internal sealed class ScheduleAbandonedException() : Exception("The schedule has ended.");
