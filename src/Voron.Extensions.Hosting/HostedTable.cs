using Voron.Tables;

namespace Voron.Extensions.Hosting;

/// <summary>A table that is brought to its definition when the host starts.</summary>
/// <param name="name">The name of the table.</param>
/// <param name="evolve">Brings it to its definition.</param>
internal sealed class HostedTable(string name, Func<StorageEnvironment, IProgress<EvolveProgress>, CancellationToken, ValueTask<EvolveReport>> evolve)
    : IProgress<EvolveProgress>
{
    // Written by the start of the host, and read by health checks. The texts are whole, so no lock is needed.
    private volatile string? _trouble = $"Table '{name}' has not been brought to its definition yet, which happens when the host starts.";

    /// <summary>Why the table is not ready; null if it is.</summary>
    public string? Trouble => _trouble;

    /// <summary>
    /// Brings the table to its definition, and makes it if there is none. In an environment that is open for reading only, does nothing.
    /// </summary>
    /// <exception cref="InvalidOperationException">It could not be done; the inner exception says why.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public async Task EvolveAsync(StorageEnvironment environment, CancellationToken stop)
    {
        try
        {
            if (!environment.Options.ReadOnly)
                await evolve(environment, this, stop).ConfigureAwait(false);
            _trouble = null;
        }
        catch (Exception e) when (e is not OperationCanceledException)
        {
            _trouble = $"Table '{name}' could not be brought to its definition: {e.Message}";
            throw new InvalidOperationException($"Table '{name}' in '{environment.Path}' cannot be brought to the definition of this program: {e.Message}", e);
        }
    }

    void IProgress<EvolveProgress>.Report(EvolveProgress value) => _trouble = FormattableString.Invariant(
        $"Table '{name}' is being brought to its definition: {value.RowIdsPassed} of {value.RowIdsTotal} row ids for {string.Join(", ", value.Indexes)}.");
}
