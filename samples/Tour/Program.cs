// Shows the engine to a reader who has just cloned the repository: real data, rates with those of SQLite from the same run, a process that is
// killed, and a damaged file that is restored. `--help` lists the options.
using System.CommandLine;
using System.CommandLine.Invocation;
using System.Globalization;
using Microsoft.Data.Sqlite;
using Tour;
using Tour.Crash;
using Tour.Output;
using Voron;

const int ExitFailure = 1;
const double LeastSeconds = 0.01;
const double MostSeconds = 600;

// A restore, a build and the tour together take less than a minute.
const double DefaultSeconds = 0.8;

var directory = new Option<string?>("--directory")
{
    Description = "Where to make the stores: a new or an empty directory, which is kept. Without it, a temporary one is removed at the end.",
};
var seconds = new Option<double>("--seconds")
{
    Description = "How long each engine runs in each measurement.",
    DefaultValueFactory = _ => DefaultSeconds,
    CustomParser = result =>
    {
        var text = result.Tokens[^1].Value;
        if (double.TryParse(text, CultureInfo.InvariantCulture, out var number) && number is >= LeastSeconds and <= MostSeconds)
            return number;
        result.AddError(string.Create(CultureInfo.InvariantCulture, $"--seconds needs a number from {LeastSeconds} to {MostSeconds}, not '{text}'."));
        return 0;
    },
};
var seed = new Option<int?>("--seed") { Description = "Repeats the order of reads and the moments of kills of an earlier tour." };
var root = new RootCommand("Shows what Voron does, on this machine and with real data, in about half a minute.") { directory, seconds, seed };
root.SetAction(async (parsed, stop) =>
{
    var options = new TourOptions(
        parsed.GetValue(directory), TimeSpan.FromSeconds(parsed.GetValue(seconds)), parsed.GetValue(seed) ?? Random.Shared.Next(100_000));
    return await new TourRun(options, new Screen(), stop).RunAsync() ? 0 : ExitFailure;
});

// What the tour starts to kill it.
var store = new Argument<string>("directory");
var child = new Command(DoomedChild.CommandName) { store };
child.Hidden = true;
child.SetAction((parsed, _) => CommittingChild.RunAsync(parsed.GetValue(store)!));
root.Subcommands.Add(child);

var command = root.Parse(args);
using var interruption = command.Action is AsynchronousCommandLineAction ? new Interruption() : null;
try
{
    var configuration = new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null };
    return await command.InvokeAsync(configuration, interruption?.Token ?? CancellationToken.None);
}
catch (OperationCanceledException)
{
    await Console.Error.WriteLineAsync("Stopped.");
    return Interruption.ExitCode;
}
catch (Exception e) when (e is TourException or VoronException or SqliteException or IOException or UnauthorizedAccessException)
{
    await Console.Error.WriteLineAsync(e.Message);
    return ExitFailure;
}
