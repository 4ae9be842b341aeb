using Voron.Testing;

namespace Voron.Primitives;

/// <summary>Records whether an environment may still write. Set once, by the first write or sync that failed.</summary>
internal sealed class PoisonState
{
    private Exception? _cause;

    public PoisonState(string path) => Path = path;

    /// <summary>The directory of the environment, for messages.</summary>
    public string Path { get; }

    public bool IsPoisoned => Volatile.Read(ref _cause) != null;

    public Exception? Cause => Volatile.Read(ref _cause);

    /// <summary>Stops all writes. Only the first cause is kept.</summary>
    public void Set(Exception cause) => Interlocked.CompareExchange(ref _cause, cause, null);

    public void ThrowIfPoisoned()
    {
        if (Volatile.Read(ref _cause) != null && !PlantedFault.IgnorePoison)
            throw Exception(CommitOutcome.NotCommitted);
    }

    /// <summary>Creates the exception for a transaction that this state ended.</summary>
    public EnvironmentPoisonedException Exception(CommitOutcome outcome)
    {
        var what = outcome == CommitOutcome.NotCommitted
            ? "The transaction was not committed"
            : "The transaction may or may not have been committed";
        return new EnvironmentPoisonedException(
            $"{what}: the environment in '{Path}' takes no more writes because of a failure ({_cause?.Message}). Close it and open it again to recover.",
            outcome,
            _cause);
    }
}
