using System.Diagnostics.Metrics;

namespace Voron.Diagnostics;

/// <summary>The kinds of observable instruments.</summary>
internal enum FigureKind
{
    /// <summary>A sum that only rises while the environment is open.</summary>
    Counter,

    /// <summary>A sum that rises and falls, and that can be added up over environments.</summary>
    UpDownCounter,

    /// <summary>A value that cannot be added up.</summary>
    Gauge,
}

/// <summary>A figure of an environment that a meter shows on request.</summary>
internal abstract record ObservableFigure
{
    /// <summary>Creates the instrument, which reads the figure of the given environments.</summary>
    public abstract void Create(Meter meter, MeasuredEnvironments environments);
}

/// <param name="Kind">The kind of instrument.</param>
/// <param name="Name">The name of the instrument.</param>
/// <param name="Unit">The unit, in the notation of UCUM.</param>
/// <param name="Description">The description for users.</param>
/// <param name="Read">Reads the figure; null while it is not known. Takes no lock.</param>
internal sealed record ObservableFigure<T>(FigureKind Kind, string Name, string Unit, string Description, Func<MeasuredEnvironment, T?> Read)
    : ObservableFigure
    where T : struct
{
    /// <inheritdoc/>
    public override void Create(Meter meter, MeasuredEnvironments environments)
    {
        IEnumerable<Measurement<T>> Observe() => environments.Measure(Read);
        switch (Kind)
        {
            case FigureKind.Counter:
                meter.CreateObservableCounter(Name, Observe, Unit, Description);
                break;
            case FigureKind.UpDownCounter:
                meter.CreateObservableUpDownCounter(Name, Observe, Unit, Description);
                break;
            default:
                meter.CreateObservableGauge(Name, Observe, Unit, Description);
                break;
        }
    }
}
