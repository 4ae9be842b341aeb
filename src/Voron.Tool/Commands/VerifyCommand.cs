using System.CommandLine;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Verifies an environment.</summary>
internal static class VerifyCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var command = new Command("verify", "Reads everything in an environment, and reports all that is wrong.");
        return access.AddTo(command).Runs((parsed, output, stop) =>
        {
            using var opened = access.OpenToRead(parsed);
            var report = opened.Environment.Internals.Verify(stop);
            output.WriteFacts(
            [
                ("transaction", report.TransactionId), ("trees", report.Trees), ("entries", report.Entries), ("used pages", report.UsedPages),
                ("free pages", report.FreePages), ("problems", report.Problems.Count),
                ("first problems", output.Form == OutputForm.Json ? report.Problems : null),
            ]);
            if (output.Form == OutputForm.Table)
            {
                foreach (var problem in report.Problems)
                    output.WriteText(problem);
            }

            return Task.FromResult(report.IsSound ? ExitCode.Done : ExitCode.Problems);
        });
    }
}
