using System.Diagnostics.CodeAnalysis;
using System.Diagnostics.Metrics;
using BenchmarkDotNet.Attributes;

namespace Voron.Benchmarks.Suites;

/// <summary>
/// The cost of being watched: commits, operations of group commits and reads in an environment in memory, without a listener, with one for the
/// meter, with one for activities, and with both.
/// </summary>
/// <remarks>
/// Without a listener, what is left of metrics and activities are the checks that find none: <see cref="ChecksOfCommit"/> measures them alone.
/// Listeners only count, as the cheapest exporter would.
/// </remarks>
[MemoryDiagnoser]
[SuppressMessage("Design", "CA1001", Justification = "BenchmarkDotNet calls the cleanup, not Dispose.")]
public class DiagnosticsSuite
{
    private const int Operations = 1_000;

    private const string Source = "Voron";

    /// <summary>The checks in one commit: the wait for the writer, the commit, its submission and its report.</summary>
    private const int Checks = 4;

    private static readonly Action<WriteTransaction> Put = static writing => writing.OpenTree("items").Put("key"u8, "value"u8);

    private static readonly ActivitySource UnusedSource = new("Voron.Benchmarks");

    private static readonly Meter UnusedMeter = new("Voron.Benchmarks");

    private static readonly Histogram<double> UnusedHistogram = UnusedMeter.CreateHistogram<double>("unused");

    private StorageEnvironment? _environment;
    private MeterListener? _meterListener;
    private ActivityListener? _activityListener;
    private long _heard;

    /// <summary>Who listens.</summary>
    [Params(Watching.None, Watching.Metrics, Watching.Activities, Watching.Both)]
    public Watching Listeners { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        _environment.Write(static writing => writing.CreateTree("items").Put("key"u8, "value"u8));
        if (Listeners is Watching.Metrics or Watching.Both)
            ListenToMeter();
        if (Listeners is Watching.Activities or Watching.Both)
            ListenToActivities();
    }

    [GlobalCleanup]
    public void Close()
    {
        _meterListener?.Dispose();
        _activityListener?.Dispose();
        _environment?.Dispose();
    }

    /// <summary>A transaction with one put.</summary>
    [Benchmark(OperationsPerInvoke = Operations)]
    public void Commit()
    {
        for (var i = 0; i < Operations; i++)
        {
            using var writing = _environment!.BeginWrite();
            Put(writing);
            writing.Commit();
        }
    }

    /// <summary>An operation of a group commit, alone in its transaction.</summary>
    [Benchmark(OperationsPerInvoke = Operations)]
    public void Write()
    {
        for (var i = 0; i < Operations; i++)
            _environment!.Write(Put);
    }

    /// <summary>A read transaction with one lookup.</summary>
    [Benchmark(OperationsPerInvoke = Operations)]
    public int Read()
    {
        var length = 0;
        for (var i = 0; i < Operations; i++)
        {
            using var reading = _environment!.BeginRead();
            if (reading.OpenTree("items").TryGet("key"u8, out var value))
                length += value.Length;
        }

        return length;
    }

    /// <summary>The checks of one commit for listeners, with a meter and a source that have none.</summary>
    [Benchmark(OperationsPerInvoke = Operations)]
    [SuppressMessage("Performance", "CA1822", Justification = "BenchmarkDotNet calls methods of an instance.")]
    public int ChecksOfCommit()
    {
        var found = 0;
        for (var i = 0; i < Operations * Checks / 2; i++)
        {
            if (UnusedHistogram.Enabled)
                found++;
            if (UnusedSource.HasListeners())
                found++;
        }

        return found;
    }

    private void ListenToMeter()
    {
        _meterListener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == Source)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        _meterListener.SetMeasurementEventCallback<double>((_, _, _, _) => Interlocked.Increment(ref _heard));
        _meterListener.Start();
    }

    private void ListenToActivities()
    {
        _activityListener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == Source,
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = _ => Interlocked.Increment(ref _heard),
        };
        ActivitySource.AddActivityListener(_activityListener);
    }

    /// <summary>What is listened to: nothing, the meter, the source of activities, or both.</summary>
    public enum Watching
    {
        None,
        Metrics,
        Activities,
        Both,
    }
}
