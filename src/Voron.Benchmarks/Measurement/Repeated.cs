using System.Diagnostics;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Measurement;

/// <summary>Measures work that can be done again and again.</summary>
internal static class Repeated
{
    private const int Repetitions = 20;

    /// <summary>Returns the median of several measurements, in nanoseconds.</summary>
    /// <param name="work">The work; its result is ignored.</param>
    public static double Median(Func<int> work)
    {
        var times = new double[Repetitions];
        for (var i = 0; i < Repetitions; i++)
        {
            var began = Stopwatch.GetTimestamp();
            _ = work();
            times[i] = Clock.Nanoseconds(began, Stopwatch.GetTimestamp());
        }

        return Figures.Median(times);
    }
}
