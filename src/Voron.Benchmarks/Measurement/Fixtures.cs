using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>Measures environments in memory as the fixtures of tests use them: opened, written once, and disposed.</summary>
internal static class Fixtures
{
    /// <summary>Returns the duration of each part of a number of fixtures, in nanoseconds.</summary>
    /// <param name="count">The number of fixtures.</param>
    public static FixtureTimes Measure(int count)
    {
        var opening = new List<double>(count);
        var commit = new List<double>(count);
        var whole = new List<double>(count);
        for (var i = 0; i < count; i++)
        {
            var began = Stopwatch.GetTimestamp();
            using (var environment = StorageEnvironment.OpenInMemory())
            {
                var opened = Stopwatch.GetTimestamp();
                using (var writing = environment.BeginWrite())
                {
                    writing.CreateTree("tree").Put("key"u8, "value"u8);
                    writing.Commit();
                }

                opening.Add(Clock.Nanoseconds(began, opened));
                commit.Add(Clock.Nanoseconds(opened, Stopwatch.GetTimestamp()));
            }

            whole.Add(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
        }

        return new FixtureTimes(opening, commit, whole);
    }
}

/// <summary>The durations of fixtures in nanoseconds, in the order in which they ran.</summary>
/// <param name="Opening">From the call that opens an environment until it returns.</param>
/// <param name="Commit">A transaction with one key.</param>
/// <param name="Whole">Both, and the disposal.</param>
internal sealed record FixtureTimes(IReadOnlyList<double> Opening, IReadOnlyList<double> Commit, IReadOnlyList<double> Whole);
