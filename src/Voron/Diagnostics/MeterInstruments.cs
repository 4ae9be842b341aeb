using System.Runtime.CompilerServices;
using Voron.Primitives;

namespace Voron.Diagnostics;

/// <summary>Creates the observable instruments of a meter once, however many environments the meter measures.</summary>
internal static class MeterInstruments
{
    private static readonly ConditionalWeakTable<EngineMeter, MeasuredEnvironments> Known = [];

    /// <summary>Returns the environments that the instruments of a meter read.</summary>
    public static MeasuredEnvironments Of(EngineMeter meter) => Known.GetValue(meter, static known =>
    {
        var environments = new MeasuredEnvironments();
        foreach (var figure in EnvironmentFigures.All)
            figure.Create(known.Meter, environments);
        return environments;
    });
}
