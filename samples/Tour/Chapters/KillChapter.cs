using System.Diagnostics;
using Tour.Crash;
using Voron;

namespace Tour.Chapters;

/// <summary>Kills a process that commits, several times on the same environment, and compares what it finds with what was acknowledged.</summary>
internal sealed class KillChapter(TourContext tour)
{
    private const int Kills = 3;
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(50);

    /// <summary>The commits that all children together have acknowledged.</summary>
    public long Acknowledged { get; private set; }

    public static int Count => Kills;

    public async Task RunAsync()
    {
        tour.Screen.Heading("7. A process that is killed");
        tour.Screen.Say(
            $"In a child process, {CommitTrail.Callers} callers commit and report each acknowledged commit through a pipe. The child is killed "
            + $"(SIGKILL) at a random moment, {Kills} times. After each kill, this process opens the environment, which recovers it, and compares.");
        var random = new Random(tour.Options.Seed);
        var directory = tour.Workplace.PathOf("killed");
        for (var kill = 1; kill <= Kills; kill++)
        {
            var time = Shortest + tour.Options.Time * (0.2 + 0.6 * random.NextDouble());
            using var child = new DoomedChild(directory);
            await tour.Screen.ShowWorkAsync($"Child process {kill} of {Kills} commits", () => child.KillAfterAsync(time, tour.Stop));
            Compare(kill, time, child, directory);
        }
    }

    private void Compare(int kill, TimeSpan time, DoomedChild child, string directory)
    {
        var began = Stopwatch.GetTimestamp();
        using var environment = StorageEnvironment.Open(directory, CommitTrail.Options);
        var opening = Stopwatch.GetElapsedTime(began);
        using var reading = environment.BeginRead();
        var found = CommitTrail.ReadLast(reading);
        var lost = child.Acknowledged.Zip(found, static (acknowledged, there) => Math.Max(0, acknowledged - there)).Sum();

        // A child that was killed soon has callers without an acknowledged commit, whose earlier ones do not count as extra.
        var extra = child.Acknowledged.Zip(found).Where(static pair => pair.First > 0).Select(static pair => pair.Second - pair.First).ToList();
        Acknowledged += child.Lines;
        tour.Screen.Say(
            $"Kill {kill}, {time.TotalMilliseconds:N0} ms after the first commit: {child.Lines:N0} commits acknowledged, {lost:N0} lost, "
            + $"{extra.Sum(static more => Math.Max(0, more))} unacknowledged but present. "
            + $"Reopened in {opening.TotalMilliseconds:N0} ms, replaying {environment.Recovery.ReplayedRecords:N0} journal records.");
        tour.Checks.That(lost == 0, $"kill {kill}: every acknowledged commit is present");
        tour.Checks.That(
            extra.TrueForAll(static more => more <= 1) && CommitTrail.IsWhole(reading),
            $"kill {kill}: at most one more per caller, and every commit is whole");
        tour.Checks.That(environment.Verify().IsSound, $"kill {kill}: every page of the files is sound");
    }
}
