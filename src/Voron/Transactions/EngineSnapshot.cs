using Voron.Snapshots;

namespace Voron.Transactions;

/// <summary>A snapshot for the engine's own use, available even when the maximum number of read transactions is open.</summary>
internal sealed class EngineSnapshot : IDisposable
{
    private readonly EnvironmentUseCount _users;

    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public EngineSnapshot(ReadingEngine engine)
    {
        _users = engine.Users;
        _users.AddCall();
        try
        {
            Snapshot = new SnapshotPages(engine.Snapshots, forEngine: true);
            Snapshot.Begin(thread: Environment.CurrentManagedThreadId);
        }
        catch
        {
            Snapshot?.Retire();
            _users.RemoveCall();
            throw;
        }
    }

    public SnapshotPages Snapshot { get; }

    public void Dispose()
    {
        Snapshot.End();
        Snapshot.Retire();
        _users.RemoveCall();
    }
}
