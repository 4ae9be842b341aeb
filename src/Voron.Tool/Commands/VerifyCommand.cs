using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Verifies an environment.</summary>
internal static class VerifyCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var command = new Command("verify", "Reads everything in an environment, and reports all that is wrong.") { directory };
        return command.Runs((parsed, output, stop) =>
        {
            var environment = ToolContext.OpenToRead(parsed.GetRequiredValue(directory));
            using var cancelling = stop.Register(() => Task.Run(environment.Dispose, CancellationToken.None));
            VerificationReport report;
            try
            {
                report = environment.Verify();
            }
            catch (ObjectDisposedException) when (stop.IsCancellationRequested)
            {
                throw new OperationCanceledException(stop);
            }
            finally
            {
                environment.Dispose();
            }

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
