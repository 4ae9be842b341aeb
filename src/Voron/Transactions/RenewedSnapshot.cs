using System.Diagnostics;
using Voron.Snapshots;

namespace Voron.Transactions;

/// <summary>A snapshot that is released and taken again repeatedly, so that no flush waits for it for long.</summary>
/// <remarks>It keeps one slot among the engine's readers for its whole life.</remarks>
internal sealed class RenewedSnapshot : IDisposable
{
    private readonly SnapshotPages _pages;
    private readonly ReadingEngine _engine;
    private long _began;
    private bool _isRetired;

    /// <param name="engine">The environment, which the caller keeps in use.</param>
    /// <exception cref="InvalidOperationException">Too many verifications and backups are running.</exception>
    public RenewedSnapshot(ReadingEngine engine)
    {
        _engine = engine;
        _pages = new SnapshotPages(engine.Snapshots, forEngine: true);
    }

    /// <summary>The pages; valid while <see cref="IsHeld"/>.</summary>
    public SnapshotPages Pages => _pages;

    public bool IsHeld { get; private set; }

    /// <summary>The time since the snapshot was taken.</summary>
    public TimeSpan Age => Stopwatch.GetElapsedTime(_began);

    /// <summary>The longest time for which one snapshot was held.</summary>
    public TimeSpan LongestHold { get; private set; }

    /// <summary>Takes a snapshot of the newest state, and makes it durable: a backup must not contain commits that can be lost.</summary>
    /// <exception cref="EnvironmentPoisonedException">Lazy commits could not be made durable. No snapshot is held.</exception>
    public void Take()
    {
        Debug.Assert(!IsHeld, "A snapshot must be released before another one is taken.");
        _began = Stopwatch.GetTimestamp();
        _pages.Begin(thread: Environment.CurrentManagedThreadId);
        IsHeld = true;
        try
        {
            _engine.MakeDurable(_pages.Sequence);
        }
        catch
        {
            Release();
            throw;
        }
    }

    public void Release()
    {
        if (!IsHeld)
            return;
        IsHeld = false;
        _pages.End();
        if (Age > LongestHold)
            LongestHold = Age;
    }

    public void Dispose()
    {
        Release();
        if (!_isRetired)
            _pages.Retire();
        _isRetired = true;
    }
}
