namespace Voron.Torture.Harness;

/// <summary>One run on a thread of its own, which is left behind when it does not end.</summary>
/// <param name="Run">What it had to tell.</param>
/// <param name="Thrown">What it threw, or null.</param>
/// <param name="HasEnded">False when its thread still goes on: then its choices must not be looked at.</param>
internal sealed record Attempt(SuiteRun Run, Exception? Thrown, bool HasEnded)
{
    /// <summary>Simulated recoveries nest deep in a debug build.</summary>
    public const int StackBytes = 16 << 20;

    /// <summary>For a run that looks whether it is to stop.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    public static Attempt Make(Suite suite, long index, long seed, Tape tape, TimeSpan limit)
    {
        // Not disposed: a run that hangs may look at the token for as long as the process lives.
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
