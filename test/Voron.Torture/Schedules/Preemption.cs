namespace Voron.Torture.Schedules;

/// <summary>A choice that differs from the usual one.</summary>
/// <param name="Decision">The index of the decision, from 0.</param>
/// <param name="Other">The index of the chosen thread among the other threads, from 0.</param>
internal readonly record struct Preemption(int Decision, int Other);
