using System.CommandLine;
using Voron.Format;
using Voron.Tables;
using Voron.Tool.Running;

namespace Voron.Tool.Commands;

/// <summary>Shows what an environment is, and how much it holds.</summary>
internal static class InfoCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        return new Command("info", "Shows the format, the state and the size of an environment.") { directory }.Runs((parsed, output, _) =>
        {
            var path = parsed.GetRequiredValue(directory);
            using var environment = RunningEnvironment.OpenOrShow(path, output, isWhole: false);
            if (environment is null)
                return Task.FromResult(ExitCode.Done);
            var statistics = environment.GetStatistics();
            using var reading = environment.BeginRead();
            var format = environment.Internals.Engine.Format;
            output.WriteFacts(
            [
                ("path", environment.Path),
                ("format version", (int)format.Version),
                ("features", format.Features == FormatFeatures.None ? null : format.Features.ToString()),
                ("page size", statistics.PageSize),
                ("environment id", environment.Internals.Engine.EnvironmentId.ToString()),
                ("lineage", format.IsVersion1 ? null : format.Lineage.Id.ToString()),
                ("transaction", statistics.PublishedTransactionId),
                ("recovered records", environment.Recovery.ReplayedRecords),
                ("trees", reading.GetTreeNames().Count),
                ("tables", reading.GetTableNames().Count),
                ("pages", statistics.PageCount),
                ("data file bytes", statistics.DataFileBytes),
                ("journal bytes", statistics.TotalJournalBytes),
            ]);
            return Task.FromResult(ExitCode.Done);
        });
    }
}
