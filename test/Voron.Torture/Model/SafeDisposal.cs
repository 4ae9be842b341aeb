namespace Voron.Torture.Model;

/// <summary>
/// Lets go of what a failed run has left: threads, memory, files. There are as many failed runs as a script has ways of being shorter.
/// </summary>
internal static class SafeDisposal
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Disposes things one after the other. What has failed may fail again, or hang: neither may hide the failure, so it is done by a thread
    /// of its own, which is left alone with what it cannot end.
    /// </summary>
    public static void Dispose(params IReadOnlyList<IDisposable?> things)
    {
        var thread = new Thread(() =>
        {
            foreach (IDisposable? thing in things)
            {
                try
                {
                    thing?.Dispose();
                }
                catch (Exception)
                {
                    // What there is to say of this run is being said.
                }
            }
        })
        {
            IsBackground = true,
            Name = "leftovers",
        };
        thread.Start();
        thread.Join(Limit);
    }
}
