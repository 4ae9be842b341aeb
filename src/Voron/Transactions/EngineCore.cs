using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>The options of an open environment, its name and log, its counters, and the end of its life: used by every part of it.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A source of tokens without timers and wait handles needs no disposal, and its tokens outlive the environment.")]
internal class EngineCore
{
    public required StorageOptions Options { get; init; }

    public required ILogger Logger { get; init; }

    /// <summary>The name in metrics and activities.</summary>
    public required EnvironmentName Name { get; init; }

    /// <summary>The meter of the environment's metrics.</summary>
    public required EngineMeter Meter { get; init; }

    /// <summary>The time at which the environment was opened.</summary>
    public DateTimeOffset OpenedAt { get; } = DateTimeOffset.UtcNow;

    /// <summary>The user's observers and listeners.</summary>
    public required Observers Observers { get; init; }

    /// <summary>Cancelled when closing begins: from then on no caller waits for the writer. Never disposed, because it holds no resources.</summary>
    public CancellationTokenSource Closing { get; } = new();

    /// <summary>Counts the users of the environment's memory and files.</summary>
    public EnvironmentUseCount Users { get; } = new();

    public required IDisk Disk { get; init; }

    public required PoisonState Poison { get; init; }

    public required RandomId EnvironmentId { get; init; }

    /// <summary>The version, the features and the lineage of the files.</summary>
    public required EnvironmentFormat Format { get; init; }

    public required int PageSize { get; init; }

    public Counters Counters { get; } = new();

    /// <summary>
    /// Keeps the environment's resources alive while <paramref name="work"/> runs, even if another thread closes the environment. User code is
    /// called while no lock is held.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call, which ended the call.</exception>
    public TResult WhileOpen<TState, TResult>(TState state, Func<TState, TResult> work)
    {
        Users.AddCall();
        try
        {
            return work(state);
        }
        catch (OperationCanceledException) when (Closing.IsCancellationRequested)
        {
            throw EndedErrors.Environment(Disk.Path, " It was closed during the call, which did not finish.");
        }
        finally
        {
            Users.RemoveCall();
            Observers.CallHere();
            GuardedLogger.WriteHere(Logger);
        }
    }
}
