using System.Diagnostics;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Measurement;

/// <summary>Beginnings of read transactions with and without an attached object, in environments in memory, in nanoseconds.</summary>
internal sealed record AttachedStateRound
{
    private const int Slices = 20;

    private static readonly CommitStateKey<string> Key = new("schemas");

    /// <summary>A beginning and an end where nothing is attached.</summary>
    public required double Without { get; init; }

    /// <summary>A beginning and an end where an object is attached.</summary>
    public required double With { get; init; }

    /// <summary>The same, with one lookup of the object in between.</summary>
    public required double WithLookup { get; init; }

    /// <summary>Measures in slices that take turns.</summary>
    /// <param name="beginnings">The number of beginnings of each.</param>
    public static AttachedStateRound Measure(int beginnings)
    {
        using var without = Open(isAttached: false);
        using var with = Open(isAttached: true);
        var perSlice = Math.Max(1, beginnings / Slices);
        var (plain, attached, lookedUp) = (new List<double>(), new List<double>(), new List<double>());

        // The first slices are compiled in tiers.
        for (var slice = -Slices; slice < Slices; slice++)
        {
            var isMeasured = slice >= 0;
            Note(plain, isMeasured, Begin(without, perSlice));
            Note(attached, isMeasured, Begin(with, perSlice));
            Note(lookedUp, isMeasured, BeginAndLookUp(with, perSlice));
        }

        return new AttachedStateRound
        {
            Without = Figures.Median(plain),
            With = Figures.Median(attached),
            WithLookup = Figures.Median(lookedUp),
        };
    }

    private static void Note(List<double> figures, bool isMeasured, double figure)
    {
        if (isMeasured)
            figures.Add(figure);
    }

    private static StorageEnvironment Open(bool isAttached)
    {
        var environment = StorageEnvironment.OpenInMemory();
        environment.Write(writing =>
        {
            writing.CreateTree("items").Put("key"u8, "value"u8);
            if (isAttached)
                writing.SetState(Key, "version 1");
        });
        return environment;
    }

    private static double Begin(StorageEnvironment environment, int count)
    {
        var began = Stopwatch.GetTimestamp();
        for (var i = 0; i < count; i++)
            environment.BeginRead().Dispose();
        return Clock.Nanoseconds(began, Stopwatch.GetTimestamp()) / (double)count;
    }

    private static double BeginAndLookUp(StorageEnvironment environment, int count)
    {
        var length = 0L;
        var began = Stopwatch.GetTimestamp();
        for (var i = 0; i < count; i++)
        {
            using var reading = environment.BeginRead();
            if (reading.TryGetState(Key, out var state))
                length += state.Length;
        }

        var nanoseconds = Clock.Nanoseconds(began, Stopwatch.GetTimestamp()) / (double)count;
        return length == 9L * count ? nanoseconds : throw new BenchmarkException("A reader has not found the attached object.");
    }
}
