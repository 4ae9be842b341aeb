using System.Globalization;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// How long a series of runs will still take. A run that was made in an earlier round takes as long again; of others the same
/// workload on other engines says most, and at first only the mean of all.
/// </summary>
/// <param name="plan">Workload and engine of each run, in order.</param>
internal sealed class TimeLeft(IReadOnlyList<(string Workload, string Engine)> plan)
{
    private readonly double[] _seconds = new double[plan.Count];
    private int _done;

    public void Add(double seconds) => _seconds[_done++] = seconds;

    /// <summary>Null before the first run is done.</summary>
    public TimeSpan? Estimate(double fractionOfCurrent = 0)
    {
        if (_done == 0)
            return null;
        double left = 0;
        for (int i = _done; i < plan.Count; i++)
            left += Expected(i) * (i == _done ? 1 - fractionOfCurrent : 1);
        return TimeSpan.FromSeconds(left);
    }

    public string Describe(double fractionOfCurrent = 0) => Estimate(fractionOfCurrent) switch
    {
        null => "",
        { TotalSeconds: < 90 } left => string.Create(CultureInfo.InvariantCulture, $", about {left.TotalSeconds:0} s left"),
        { TotalMinutes: < 90 } left => string.Create(CultureInfo.InvariantCulture, $", about {left.TotalMinutes:0} min left"),
        { } left => string.Create(CultureInfo.InvariantCulture, $", about {left.TotalHours:0.0} h left"),
    };

    private double Expected(int run) =>
        Mean(i => plan[i] == plan[run]) ?? Mean(i => plan[i].Workload == plan[run].Workload) ?? Mean(_ => true)!.Value;

    private double? Mean(Func<int, bool> matches)
    {
        double total = 0;
        int count = 0;
        for (int i = 0; i < _done; i++)
        {
            if (!matches(i))
                continue;
            total += _seconds[i];
            count++;
        }
        return count == 0 ? null : total / count;
    }
}
