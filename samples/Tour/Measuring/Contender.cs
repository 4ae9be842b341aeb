namespace Tour.Measuring;

/// <summary>One of the engines in a measurement.</summary>
/// <param name="Name">Its name in the output.</param>
/// <param name="Work">Works until the time is over, and returns how much it has done.</param>
/// <param name="Settle">Finishes what is left to do in the background, before the other engine has its turn.</param>
internal sealed record Contender(string Name, Func<TimeSlice, long> Work, Action Settle);
