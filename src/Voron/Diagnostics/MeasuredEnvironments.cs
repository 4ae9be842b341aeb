using System.Diagnostics.Metrics;
using Voron.Primitives;

namespace Voron.Diagnostics;

/// <summary>The open environments that the observable instruments of one meter read.</summary>
/// <remarks>
/// An instrument cannot be removed from a meter, so all environments share the instruments, and a closed environment is removed from the list.
/// The list holds environments weakly: one that is never closed is kept by its own threads, not by its metrics. The callbacks read the list
/// without a lock.
/// </remarks>
internal sealed class MeasuredEnvironments
{
    private readonly Lock _gate = new();
    private WeakReference<MeasuredEnvironment>[] _all = [];

    /// <summary>Begins to measure an environment.</summary>
    public void Add(MeasuredEnvironment environment)
    {
        using (Uninterrupted.Hold(_gate))
            Volatile.Write(ref _all, [.. Others(environment), new WeakReference<MeasuredEnvironment>(environment)]);
    }

    /// <summary>Ends the measurement of an environment.</summary>
    public void Remove(MeasuredEnvironment environment)
    {
        using (Uninterrupted.Hold(_gate))
            Volatile.Write(ref _all, [.. Others(environment)]);
    }

    /// <summary>Reads a figure of all environments. Called by listeners.</summary>
    public IEnumerable<Measurement<T>> Measure<T>(Func<MeasuredEnvironment, T?> read)
        where T : struct
    {
        var environments = Volatile.Read(ref _all);
        var found = new List<Measurement<T>>(environments.Length);
        foreach (var reference in environments)
        {
            if (reference.TryGetTarget(out var environment) && environment.TryRead(read, out var value))
                found.Add(new Measurement<T>(value, environment.Tag));
        }

        return found;
    }

    private IEnumerable<WeakReference<MeasuredEnvironment>> Others(MeasuredEnvironment environment) =>
        _all.Where(other => other.TryGetTarget(out var target) && target != environment);
}
