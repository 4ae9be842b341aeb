using System.Diagnostics.Metrics;

namespace Voron.Tests.Diagnostics;

/// <summary>A factory that returns the same meter for the same name, as that of a service provider does.</summary>
internal sealed class TestMeterFactory : IMeterFactory
{
    private readonly Dictionary<string, Meter> _meters = [];

    /// <summary>The number of calls of <see cref="Create"/>.</summary>
    public int Calls { get; private set; }

    /// <summary>Thrown by <see cref="Create"/>, if it is set.</summary>
    public Exception? Failure { get; init; }

    public Meter Create(MeterOptions options)
    {
        Calls++;
        if (Failure != null)
            throw Failure;
        if (!_meters.TryGetValue(options.Name, out var meter))
        {
            options.Scope = this;
            _meters.Add(options.Name, meter = new Meter(options));
        }

        return meter;
    }

    public void Dispose()
    {
        foreach (var meter in _meters.Values)
            meter.Dispose();
    }
}
