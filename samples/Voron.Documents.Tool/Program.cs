using System.CommandLine;
using Spectre.Console;
using Voron;
using Voron.Documents;
using Voron.Documents.Tool;
using Voron.Documents.Tool.Compare;

const int ExitFailure = 1;
const int ExitCancelled = 130;
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
try
{
    return await root.Parse(args).InvokeAsync(new InvocationConfiguration
    {
        EnableDefaultExceptionHandler = false,
        ProcessTerminationTimeout = TimeSpan.FromSeconds(30),
    });
}
catch (OperationCanceledException)
{
    Console.Error.WriteLine("Cancelled.");
    return ExitCancelled;
}
catch (Exception e) when (e is QueryException or DocumentFormatException or DocumentConflictException or ImportException or KeyNotFoundException
    or ArgumentException or VoronException or IOException or UnauthorizedAccessException or HttpRequestException)
{
    Console.Error.WriteLine(e.Message);
    return ExitFailure;
}
