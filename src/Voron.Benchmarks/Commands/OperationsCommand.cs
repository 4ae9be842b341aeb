using System.CommandLine;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

namespace Voron.Benchmarks.Commands;

/// <summary>Measures what operators do with an environment, beside the bare devices, and its cost for readers and writers meanwhile.</summary>
internal static class OperationsCommand
{
    public static Command Create()
    {
        var output = new OutputOptions();
        var gibibytes = new Option<double>("--gib") { Description = "The size of the environment in GiB.", DefaultValueFactory = _ => 4 };
        var rounds = new Option<int>("--rounds") { Description = "How often each figure is measured.", DefaultValueFactory = _ => 5 };
        var target = new Option<string?>("--target")
        {
            Description = "A directory on another device for backups and restored environments; by default, they go to the device of the environment.",
            HelpName = "DIR",
        };
        var part = new Option<OperationsPart>("--part") { Description = "What is measured.", DefaultValueFactory = _ => OperationsPart.Backups };
        var command = new Command("operations", "Measures backups, compactions, salvages and the change log: rates, memory, and commits and lookups beside them.")
        {
            gibibytes, rounds, target, part,
        };
        output.AddTo(command);
        command.SetAction(async (parsed, stop) =>
        {
            using var session = output.Begin(parsed);
            var bytes = (long)(parsed.GetValue(gibibytes) * (1L << 30));
            session.CheckDevice(parsed.GetValue(part) is OperationsPart.Memory ? 5 * bytes : 2 * bytes);
            await new Run(session, bytes, parsed.GetValue(rounds), parsed.GetValue(target) ?? session.Area.Path, stop)
                .MeasureAsync(parsed.GetValue(part)).ConfigureAwait(false);
        });
        return command;
    }

    private sealed class Run(MeasuringSession session, long bytes, int rounds, string target, CancellationToken stop)
    {
        public async Task MeasureAsync(OperationsPart part)
        {
            switch (part)
            {
                case OperationsPart.Compactions:
                    var compactions = await RoundsAsync(directory => CompactionRound.MeasureAsync(directory, bytes, stop)).ConfigureAwait(false);
                    session.FinishWith(CompactionTables.Create(bytes, compactions), new { session.Machine, compactions });
                    break;
                case OperationsPart.ChangeLog:
                    var flushes = await RoundsAsync(directory => ChangeLogRound.MeasureAsync(directory, bytes, stop)).ConfigureAwait(false);
                    session.FinishWith(OperationTables.ChangeLog(bytes, flushes), new { session.Machine, flushes });
                    break;
                case OperationsPart.Salvages:
                    var salvages = await RoundsAsync(directory => SalvageRound.MeasureAsync(directory, bytes, stop)).ConfigureAwait(false);
                    session.FinishWith(OperationTables.Salvages(bytes, salvages), new { session.Machine, salvages });
                    break;
                case OperationsPart.Memory:
                    var memory = await OperationMemory.MeasureAsync(session.Area.Path, bytes, stop).ConfigureAwait(false);
                    session.FinishWith(OperationTables.Memory(bytes, memory), new { session.Machine, memory });
                    break;
                default:
                    using (var store = BackupStore.Create(Path.Combine(session.Area.Path, "store"), bytes))
                    {
                        var backups = await RoundsAsync(_ => OperationsRound.MeasureAsync(store, target, stop)).ConfigureAwait(false);
                        session.FinishWith(BackupTables.Create(store.Bytes, backups), new { session.Machine, backups });
                    }

                    break;
            }
        }

        // Each round has a directory of its own, which is removed after it.
        private async Task<List<T>> RoundsAsync<T>(Func<string, Task<T>> measure)
        {
            var results = new List<T>();
            await MeasuringSession.ShowProgressAsync(rounds, async progress =>
            {
                for (var round = 0; round < rounds; round++)
                {
                    var directory = Directory.CreateDirectory(Path.Combine(session.Area.Path, $"round-{round}")).FullName;
                    results.Add(await measure(directory).ConfigureAwait(false));
                    Directory.Delete(directory, recursive: true);
                    progress.Increment(1);
                }
            }).ConfigureAwait(false);
            return results;
        }
    }
}
