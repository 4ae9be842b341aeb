using System.Collections.Concurrent;
using System.Diagnostics.Metrics;

namespace Voron.Tests.Diagnostics;

/// <summary>Listens to the engine's meter of one factory, or of the process, and keeps all measurements.</summary>
internal sealed class MeterRecords : IDisposable
{
    private readonly MeterListener _listener = new();

    /// <param name="factory">The factory; null for the meter of the process.</param>
    /// <param name="onDuration">Called with the name of an instrument for each measurement of a histogram, before it is kept.</param>
    public MeterRecords(TestMeterFactory? factory, Action<string>? onDuration = null)
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == "Voron" && instrument.Meter.Scope == factory)
            {
                Instruments.Add(instrument);
                listener.EnableMeasurementEvents(instrument);
            }
        };
        _listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Observed.Add((instrument.Name, NameIn(tags), value)));
        _listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) =>
        {
            if (instrument is Histogram<double>)
                onDuration?.Invoke(instrument.Name);
            (instrument.IsObservable ? Observed : Recorded).Add((instrument.Name, NameIn(tags), value));
        });
        _listener.Start();
    }

    public ConcurrentBag<Instrument> Instruments { get; } = [];

    /// <summary>The measurements of histograms, in no order.</summary>
    public ConcurrentBag<(string Instrument, string Environment, double Value)> Recorded { get; } = [];

    private ConcurrentBag<(string Instrument, string Environment, double Value)> Observed { get; } = [];

    /// <summary>Reads all observable instruments, and returns their values in one environment.</summary>
    public Dictionary<string, double> Observe(string environment) =>
        Observe().Where(found => found.Environment == environment).ToDictionary(found => found.Instrument, found => found.Value);

    /// <summary>Reads all observable instruments.</summary>
    public IReadOnlyList<(string Instrument, string Environment, double Value)> Observe()
    {
        Observed.Clear();
        _listener.RecordObservableInstruments();
        return [.. Observed];
    }

    /// <summary>Waits until a histogram has that many measurements, and returns them.</summary>
    public IReadOnlyList<double> WaitFor(string instrument, int count)
    {
        TestWait.Until(() => Values().Count() >= count, $"{instrument} has {count} measurements");
        return [.. Values()];
        IEnumerable<double> Values() => Recorded.Where(found => found.Instrument == instrument).Select(found => found.Value);
    }

    public void Dispose() => _listener.Dispose();

    private static string NameIn(ReadOnlySpan<KeyValuePair<string, object?>> tags)
    {
        tags.Length.Should().Be(1, "a measurement has one tag");
        tags[0].Key.Should().Be("db.namespace");
        return (string)tags[0].Value!;
    }
}
