using Voron.Tables;

namespace Voron;

/// <content>What the layer of tables needs of the environment to delete expired rows.</content>
public sealed partial class StorageEnvironment
{
    private ExpiryRuns? _expiry;

    /// <summary>The number of tables with expiring rows whose definitions are kept. For tests.</summary>
    internal int ExpiringTables => _expiry?.Tables ?? 0;

    /// <summary>Throws if an operation cannot be queued here.</summary>
    /// <param name="member">The member that was called.</param>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    internal void ThrowIfCannotQueue(string member)
    {
        ThrowIfNotWritable(member);
        _writing!.GroupCommit.ThrowIfInside(member);
    }

    // Called by the constructor, for an environment that can be written.
    private void BeginExpiry()
    {
        var runs = new ExpiryRuns(_engine, BeginRead, WriteAsync);
        _engine.OnExpiringTable = runs.OnOpened;
        _engine.OnDeletedTable = runs.OnDeleted;
        _expiry = runs;
    }
}
