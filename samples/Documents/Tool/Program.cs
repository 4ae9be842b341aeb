using System.CommandLine;
using System.CommandLine.Invocation;
using Spectre.Console;
using Voron;
using Voron.Documents;
using Voron.Documents.Tool;
using Voron.Documents.Tool.Compare;

const int ExitFailure = 1;
if (Console.IsOutputRedirected)
    AnsiConsole.Profile.Width = 160;
var root = new RootCommand("Keeps JSON documents in a Voron environment: imports them, indexes them, and finds them.")
{
    ImportCommand.Create(),
    QueryCommand.Create(),
    SearchCommand.Create(),
    DocumentCommands.CreateGet(),
    DocumentCommands.CreatePut(),
    DocumentCommands.CreateDelete(),
    AttachmentCommands.CreateAttach(),
    AttachmentCommands.CreateList(),
    AttachmentCommands.CreateDetach(),
    IndexCommand.Create(),
    CompressCommand.Create(),
    StatsCommand.Create(),
    ExpireCommand.Create(),
    WatchCommand.Create(),
    PromptCommand.Create(),
    ServeCommand.Create(),
    CompareCommand.Create(),
};
var parsed = root.Parse(args);

// Commands that only read end at the first signal.
using var interruption = parsed.Action is AsynchronousCommandLineAction ? new Interruption() : null;
try
{
    var configuration = new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null };
    return await parsed.InvokeAsync(configuration, interruption?.Token ?? CancellationToken.None);
}
catch (OperationCanceledException)
{
    Console.Error.WriteLine("Cancelled.");
    return Interruption.ExitCode;
}
catch (Exception e) when (e is QueryException or DocumentFormatException or DocumentConflictException or ImportException or KeyNotFoundException
    or ArgumentException or VoronException or IOException or UnauthorizedAccessException or HttpRequestException)
{
    // The name of a parameter tells a programmer what a user cannot see.
    var parameter = e is ArgumentException { ParamName: { } name } ? $" (Parameter '{name}')" : "";
    Console.Error.WriteLine(parameter.Length > 0 ? e.Message.Replace(parameter, "", StringComparison.Ordinal) : e.Message);
    return ExitFailure;
}
