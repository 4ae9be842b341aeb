namespace Voron.Torture.Model;

/// <summary>
/// Disposes the resources of a failed run: threads, memory, files. There are as many failed runs as a script has ways to become shorter.
/// </summary>
internal static class SafeDisposal
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Disposes objects one after the other. A failed object may fail again, or hang: neither may hide the failure, so a separate thread
    /// does the work, and is abandoned with the objects that it cannot end.
    /// </summary>
    public static void Dispose(params IReadOnlyList<IDisposable?> things)
    {
        var thread = new Thread(() =>
        {
            foreach (var thing in things)
            {
                try
                {
                    thing?.Dispose();
                }
                catch (Exception)
                {
                    // The failure of this run is already being reported.
                }
            }
        })
        {
            IsBackground = true,
            Name = "disposal",
        };
        thread.Start();
        thread.Join(Limit);
    }
}
