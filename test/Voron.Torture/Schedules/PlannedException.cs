namespace Voron.Torture.Schedules;

/// <summary>Thrown by an operation of a group commit that is to fail.</summary>
internal sealed class PlannedException : Exception;
