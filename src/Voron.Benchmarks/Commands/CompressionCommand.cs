using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what compressed values save and cost.</summary>
internal static class CompressionCommand
{
    private const int MinRecords = 5000;

    public static Command Create()
    {
        var output = new OutputOptions();
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var records = new Option<int>("--records")
        {
            Description = "The records that are made, if no file has them.",
            DefaultValueFactory = _ => 60_000,
        };
        var file = new Option<string?>("--file")
        {
            Description = "A file of records that are divided by empty lines, such as the output of apt-cache dumpavail.",
        };
        rounds.Require(value => value >= 1, "at least 1");
        records.Require(value => value >= MinRecords, $"at least {MinRecords:N0}");
        var command = new Command("compression", "Measures trees with compressed values beside plain ones.")
        {
            rounds, records, file,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var source = parsed.GetValue(file);
            var values = source == null ? CompressionRun.Make(parsed.GetValue(records)) : CompressionRun.Read(source);
            session.CheckDevice(4L * values.Sum(value => (long)value.Length));
            await MeasureAsync(session, parsed.GetValue(rounds), values, stop).ConfigureAwait(false);
        });
        return command;
    }

    private static async Task MeasureAsync(MeasuringSession session, int rounds, byte[][] records, CancellationToken stop)
    {
        var runs = new List<CompressionRun>();
        var place = Path.Combine(session.Area.Path, "compression");
        await MeasuringSession.ShowProgressAsync(rounds + 1, progress =>
        {
            // The first one runs code that is still being compiled.
            foreach (var way in CompressionRun.Ways)
                CompressionRun.Measure(place, way, records[..MinRecords], round: 0);
            progress.Increment(1);
            for (var round = 0; round < rounds; round++)
            {
                for (var i = 0; i < CompressionRun.Ways.Length; i++)
                {
                    stop.ThrowIfCancellationRequested();
                    runs.Add(CompressionRun.Measure(place, CompressionRun.Ways[(i + round) % CompressionRun.Ways.Length], records, round));
                }

                progress.Increment(1);
            }

            return Task.CompletedTask;
        }).ConfigureAwait(false);
        if (runs.Any(run => run.Checksum != runs[0].Checksum))
            throw new BenchmarkException("The ways have read different values.");
        session.FinishWith(CompressionTables.Create(runs), new { session.Machine, runs });
    }
}
