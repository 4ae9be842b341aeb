using System.CommandLine;
using System.Globalization;
using Spectre.Console;
using Voron.Simulation.Harness;
using Voron.Torture.Suites;

namespace Voron.Torture.Commands;

/// <summary>Runs one suite, a replay, or with <c>all</c> every suite in turn.</summary>
internal static class TortureCommand
{
    private const double DefaultMinutes = 10;
    private const string DefaultLedger = "ledger.json";

    /// <summary>Extra time for a process to start, to create the suite's environment, and to end.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromMinutes(2);

    public static RootCommand Create()
    {
        var suite = new Option<string?>("--suite") { Description = "The suite to run.", HelpName = "NAME" };
        var count = new Option<long?>("--count") { Description = "The number of cases; by default, that of a full run.", HelpName = "N" };
        var first = new Option<long>("--first") { Description = "The number of the first run, from 0.", HelpName = "N" };
        var replay = new Option<string?>("--replay") { Description = "Runs the script of a failure that was saved.", HelpName = "FILE" };
        var fault = new Option<string?>("--fault") { Description = "Plants a fault in the engine.", HelpName = "NAME" };
        var minutes = new Option<double?>("--minutes") { Description = "The time after which no new run begins.", HelpName = "MINUTES" };
        var most = new Option<int>("--most-failures")
        {
            Description = "The number of different failures after which no new run begins.",
            DefaultValueFactory = _ => 1,
            HelpName = "N",
        };
        var asFound = new Option<bool>("--as-found") { Description = "With --replay: runs the script as it was before it was shrunk." };

        // Used for processes that this program starts: see SuiteProcess.
        var shared = new Option<string?>("--shared") { Hidden = true };
        var root = new RootCommand("Tests Voron with faults, crashes, damage and races of many kinds.")
        {
            suite, count, first, replay, asFound, fault, minutes, most, shared,
        };
        var common = Common.AddTo(root);
        root.Subcommands.Add(CreateAll());
        root.Subcommands.Add(CreateList());
        root.Subcommands.Add(LedgerCommand.Create());
        root.Subcommands.Add(FaultsCommand.Create());
        root.Subcommands.Add(CoverageCommand.Create());
        root.Subcommands.Add(FillCommand.Create());
        root.Subcommands.Add(ScaleCommand.Create());
        root.SetAction(parsed =>
        {
            EngineSetup.LetAssertionsThrow();
            if (parsed.GetValue(common.Guard))
                EngineSetup.ProtectMemory();
            if (parsed.GetValue(replay) is { } path)
                return Replay(Failure.Load(path), parsed.GetValue(asFound));
            if (parsed.GetValue(suite) is not { } name)
                throw new TortureException("Choose a suite with --suite NAME, or all suites with 'all'; 'list' names them.");
            if (parsed.GetValue(fault) is { } planted)
                EngineSetup.Plant(planted);
            var chosen = SuiteCatalog.Find(name);
            var plan = common.PlanOf(parsed) with
            {
                Count = parsed.GetValue(count) ?? RunPlan.Full,
                First = parsed.GetValue(first),
                Fault = parsed.GetValue(fault),
                MaxFailures = parsed.GetValue(most),
                TimeLimit = parsed.GetValue(minutes) is { } limit ? TimeSpan.FromMinutes(limit) : null,
            };
            if (parsed.GetValue(shared) is { } directory)
                return RunForCaller(chosen, plan with { MarksFile = SuiteProcess.MarksFile(directory) }, SuiteProcess.LedgerFile(directory));
            var result = RunWithProgress(chosen, plan, onProgress => new SuiteRunner(chosen, plan).Run(onProgress));
            if (parsed.GetValue(common.Ledger) is { } ledger)
                Ledger.Add(ledger, [result]);
            return Finish([result]);
        });
        return root;
    }

    private static Command CreateAll()
    {
        var minutes = new Option<double>("--minutes")
        {
            Description = "The time for all suites together, divided equally.",
            DefaultValueFactory = _ => DefaultMinutes,
            HelpName = "MINUTES",
        };
        var command = new Command("all", "Runs every suite in turn.") { minutes };
        var common = Common.AddTo(command);
        command.SetAction(parsed =>
        {
            var results = new List<SuiteResult>();
            var ledger = parsed.GetValue(common.Ledger) ?? Path.Combine(parsed.GetRequiredValue(common.Failures), DefaultLedger);
            foreach (var unfit in SuiteCatalog.All.Where(suite => suite.UnfitHere is not null))
                Console.WriteLine($"{unfit.Name} is NOT RUN: it {unfit.UnfitHere}.");
            Suite[] suites = [.. SuiteCatalog.All.Where(suite => suite.UnfitHere is null)];
            var sequence = new SuiteSequence(suites, TimeSpan.FromMinutes(parsed.GetValue(minutes)), RunInProcess);
            foreach (var result in sequence.Run(_ => common.PlanOf(parsed)))
            {
                // Saved at once, so that a later crash cannot lose it.
                Ledger.Add(ledger, [result]);
                results.Add(result);
            }
            var exit = Finish(results);
            Console.WriteLine($"Added to {ledger}.");
            var failed = results.Count(result => result.Failures.Count > 0);
            Console.WriteLine($"{results.Count - failed} passed, {failed} failed");
            return exit;
        });
        return command;
    }

    private static (SuiteResult Result, long? GoOnAt) RunInProcess(Suite suite, RunPlan plan)
    {
        // The process ends on its own, unless the engine blocks all of it.
        var limit = plan.TimeLimit.GetValueOrDefault() + suite.RunLimit + plan.ShrinkTime + Grace;
        SuiteProcessEnd? end = null;
        var result = RunWithProgress(suite, plan, onProgress =>
        {
            end = new SuiteProcess(suite, plan).Run(limit, onProgress);
            return end.ResultOrDeath();
        });
        return (result, end!.GoOnAt);
    }

    private static int RunForCaller(Suite suite, RunPlan plan, string ledger)
    {
        SuiteProcess.EndWithCaller();
        var result = new SuiteRunner(suite, plan).Run(SuiteProcess.ReportProgress);
        Ledger.Add(ledger, [result]);
        return result.Failures.Count > 0 ? Program.ExitFailure : 0;
    }

    private static Command CreateList()
    {
        var command = new Command("list", "Names the suites.");
        command.SetAction(_ =>
        {
            var table = new Table().Border(TableBorder.Rounded).AddColumns("suite", "work", "unit", "in full tests", "full run");
            foreach (var suite in SuiteCatalog.All)
                table.AddRow(suite.Name, suite.Summary, suite.Unit, Number(suite.TestCount), Number(suite.FullCount));
            AnsiConsole.Write(table);
        });
        return command;
    }

    private static SuiteResult RunWithProgress(Suite suite, RunPlan plan, Func<Action<double>, SuiteResult> run)
    {
        // Printed before the run: if the run ends the process, this shows which suite and seed to run again.
        Console.WriteLine($"{suite.Name}, seed {plan.Seed.ToString(CultureInfo.InvariantCulture)}");
        SuiteResult? result = null;
        AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .Start(context =>
            {
                var task = context.AddTask(suite.Name, maxValue: 1);
                result = run(done => task.Value = done);
            });
        return result!;
    }

    private static int Replay(Failure failure, bool asFound)
    {
        if (failure.Fault is { } fault)
            EngineSetup.Plant(fault);
        if (failure.Guard)
            EngineSetup.ProtectMemory();
        var attempt = SuiteRunner.Replay(SuiteCatalog.Find(failure.Suite), failure, asFound);
        foreach (var step in attempt.Run.Steps)
            Console.WriteLine(step);
        Console.WriteLine(!attempt.HasEnded ? "It does not end." : attempt.Thrown is null ? "It does not fail." : attempt.Thrown.ToString());
        return attempt.HasEnded && attempt.Thrown is null ? 0 : Program.ExitFailure;
    }

    private static int Finish(IReadOnlyList<SuiteResult> results)
    {
        ResultTable.Write(results);
        return results.Any(result => result.Failures.Count > 0) ? Program.ExitFailure : 0;
    }

    private static string Number(long number) => number.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>Options that every way of running suites accepts.</summary>
    private sealed record Common(
        Option<long?> Seed, Option<string> Failures, Option<string?> Ledger, Option<double> ShrinkSeconds, Option<int> Threads,
        Option<bool> Guard)
    {
        private const double DefaultShrinkSeconds = 60;

        public static Common AddTo(Command command)
        {
            var common = new Common(
                new Option<long?>("--seed") { Description = "Decides all choices; taken from the clock by default.", HelpName = "S" },
                new Option<string>("--failures")
                {
                    Description = "The directory in which failing scripts are saved.",
                    DefaultValueFactory = _ => "torture-failures",
                    HelpName = "DIR",
                },
                new Option<string?>("--ledger")
                {
                    Description = $"Adds the results to this file; 'all' adds to {DefaultLedger} beside the failures by default.",
                    HelpName = "FILE",
                },
                new Option<double>("--shrink-seconds")
                {
                    Description = "The time to look for a shorter script of a failure.",
                    DefaultValueFactory = _ => DefaultShrinkSeconds,
                    HelpName = "SECONDS",
                },
                new Option<int>("--threads") { Description = "The number of concurrent runs; by default, the number that a suite prefers.", HelpName = "N" },
                new Option<bool>("--guard")
                {
                    Description = "Makes freed memory and the bytes beside blocks inaccessible: a wrong access ends the process where it happens.",
                });
            command.Options.Add(common.Seed);
            command.Options.Add(common.Failures);
            command.Options.Add(common.Ledger);
            command.Options.Add(common.ShrinkSeconds);
            command.Options.Add(common.Threads);
            command.Options.Add(common.Guard);
            return common;
        }

        public RunPlan PlanOf(ParseResult parsed) => new(RunPlan.Full, parsed.GetValue(Seed) ?? Environment.TickCount64)
        {
            FailureDirectory = parsed.GetRequiredValue(Failures),
            ShrinkTime = TimeSpan.FromSeconds(parsed.GetValue(ShrinkSeconds)),
            Threads = parsed.GetValue(Threads),
            Guard = parsed.GetValue(Guard),
        };
    }
}
