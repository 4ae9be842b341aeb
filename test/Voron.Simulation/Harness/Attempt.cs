namespace Voron.Simulation.Harness;

/// <summary>One run on its own thread, which is left behind if the run does not end.</summary>
/// <param name="Run">The run, with its reports.</param>
/// <param name="Thrown">The exception that it threw, or null.</param>
/// <param name="HasEnded">False if its thread is still running: then its choices must not be read.</param>
internal sealed record Attempt(SuiteRun Run, Exception? Thrown, bool HasEnded)
{
    /// <summary>The stack size of the thread in bytes: simulated recoveries nest deeply in a debug build.</summary>
    public const int StackBytes = 16 << 20;

    /// <summary>The time given to a run that checks whether it is to stop.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    public static Attempt Make(Suite suite, long index, long seed, Tape tape, TimeSpan limit)
    {
        // Not disposed: a run that hangs may check the token for as long as the process lives.
        var stop = new CancellationTokenSource();
        var run = new SuiteRun(index, tape) { Stop = stop.Token, Seed = seed };
        Exception? thrown = null;
        var thread = new Thread(
            () =>
            {
                try
                {
                    suite.RunGuarded(run);
                }
                catch (Exception e)
                {
                    thrown = e;
                }
            },
            StackBytes)
        {
            IsBackground = true,
            Name = suite.Name,
        };
        thread.Start();
        if (thread.Join(limit > TimeSpan.Zero ? limit : TimeSpan.Zero))
            return new Attempt(run, thrown, true);
        stop.Cancel();
        return thread.Join(Grace) ? new Attempt(run, thrown, true) : new Attempt(run, null, false);
    }
}
