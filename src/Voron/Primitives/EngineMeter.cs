using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;

namespace Voron.Primitives;

/// <summary>The engine's meter with its histograms: one for the process, or one for each meter that a user's factory creates.</summary>
/// <remarks>
/// All environments of a meter share its instruments, because an instrument cannot be removed from a meter. Each measurement has the name of its
/// environment as a tag. No meter is disposed here: that of the process lives as long as the process, and the others belong to their factory.
/// </remarks>
internal sealed class EngineMeter
{
    /// <summary>The name of the meter and of the source of activities.</summary>
    public const string Name = "Voron";

    private static readonly ConditionalWeakTable<Meter, EngineMeter> Known = [];

    private static readonly double[] Waits =
        [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

    private static readonly double[] Jobs =
        [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

    private readonly Histogram<double>[] _histograms;

    private EngineMeter(Meter meter)
    {
        Meter = meter;
        _histograms =
        [
            Duration("voron.commit.duration", "The time from the call that commits a transaction until its changes are durable and visible.", Waits),
            Duration("voron.writer.wait.duration", "The time for which a caller waits for the writer, without the delays of back-pressure.", Waits),
            Duration("voron.flush.duration", "The time from choosing the state of a flush to the durable checkpoint.", Jobs),
            Duration("voron.recovery.duration", "The time for which an opening replays the journal.", Jobs),
        ];
    }

    /// <summary>The version of the engine, as shown by the meter and the source of activities.</summary>
    public static string Version { get; } = typeof(EngineMeter).Assembly.GetName().Version?.ToString(3) ?? "";

    public Meter Meter { get; }

    /// <summary>Returns the meter of a factory, or that of the process. Calls the factory, which is user code.</summary>
    public static EngineMeter Of(IMeterFactory? factory) => factory == null
        ? OfProcess.Shared
        : Known.GetValue(factory.Create(new MeterOptions(Name) { Version = Version }), static meter => new EngineMeter(meter));

    /// <summary>The histogram for the durations of this work.</summary>
    public Histogram<double> Durations(TimedWork work) => _histograms[(int)work];

    private Histogram<double> Duration(string name, string description, double[] boundaries) =>
        Meter.CreateHistogram(name, "s", description, tags: null, new InstrumentAdvice<double> { HistogramBucketBoundaries = boundaries });

    /// <summary>Created when the first environment without a factory is opened.</summary>
    private static class OfProcess
    {
        public static readonly EngineMeter Shared = new(new Meter(Name, Version));
    }
}

/// <summary>Work whose duration is measured: an index into the histograms of <see cref="EngineMeter"/>.</summary>
internal enum TimedWork
{
    Commit,
    WriterWait,
    Flush,
    Recovery,
}
