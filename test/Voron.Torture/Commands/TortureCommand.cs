using System.CommandLine;
using System.Globalization;
using Spectre.Console;
using Voron.Torture.Harness;
using Voron.Torture.Suites;

namespace Voron.Torture.Commands;

/// <summary>One suite, a replay, or with <c>all</c> every suite in turn.</summary>
internal static class TortureCommand
{
    private const double DefaultMinutes = 10;

    public static RootCommand Create()
    {
        var suite = new Option<string?>("--suite") { Description = "Which suite.", HelpName = "NAME" };
        var count = new Option<long?>("--count") { Description = "Cases to look at; else as many as a full run asks for.", HelpName = "N" };
        var first = new Option<long>("--first") { Description = "The number of the first run, from 0.", HelpName = "N" };
        var replay = new Option<string?>("--replay") { Description = "Runs the script of a failure that was saved.", HelpName = "FILE" };
        var fault = new Option<string?>("--fault") { Description = "Plants a fault in the engine.", HelpName = "NAME" };
        var minutes = new Option<double?>("--minutes") { Description = "Time after which no new run begins.", HelpName = "MINUTES" };
        var root = new RootCommand("Attacks Voron in every way that its authors could think of.") { suite, count, first, replay, fault, minutes };
        Common common = Common.AddTo(root);
        root.Subcommands.Add(CreateAll());
        root.Subcommands.Add(CreateList());
        root.Subcommands.Add(LedgerCommand.Create());
        root.Subcommands.Add(FaultsCommand.Create());
        root.Subcommands.Add(CoverageCommand.Create());
        root.SetAction(parsed =>
        {
            EngineSetup.LetAssertionsThrow();
            if (parsed.GetValue(replay) is { } path)
                return Replay(Failure.Load(path));
            if (parsed.GetValue(suite) is not { } name)
                throw new TortureException("Say which suite with --suite NAME, or all of them with 'all'; 'list' names them.");
            if (parsed.GetValue(fault) is { } planted)
                EngineSetup.Plant(planted);
            Suite chosen = SuiteCatalog.Find(name);
            RunPlan plan = common.PlanOf(parsed, parsed.GetValue(count) ?? chosen.FullCount) with
            {
                First = parsed.GetValue(first),
                Fault = parsed.GetValue(fault),
                TimeLimit = TimeSpan.FromMinutes(parsed.GetValue(minutes) ?? 0),
            };
            return Finish([RunWithProgress(chosen, plan)], parsed.GetValue(common.Ledger));
        });
        return root;
    }

    private static Command CreateAll()
    {
        var minutes = new Option<double>("--minutes")
        {
            Description = "Time for all suites together, shared out equally.",
            DefaultValueFactory = _ => DefaultMinutes,
            HelpName = "MINUTES",
        };
        var command = new Command("all", "Runs every suite in turn.") { minutes };
        Common common = Common.AddTo(command);
        command.SetAction(parsed =>
        {
            EngineSetup.LetAssertionsThrow();
            var results = new List<SuiteResult>();
            string? ledger = parsed.GetValue(common.Ledger);
            double left = parsed.GetValue(minutes);
            for (int i = 0; i < SuiteCatalog.All.Count; i++)
            {
                // What a suite leaves of its share goes to those after it.
                Suite suite = SuiteCatalog.All[i];
                var limit = TimeSpan.FromMinutes(Math.Max(left, 0) / (SuiteCatalog.All.Count - i));
                SuiteResult result = RunWithProgress(suite, common.PlanOf(parsed, suite.FullCount) with { TimeLimit = limit });
                left -= result.Seconds / 60;
                results.Add(result);

                // At once: a suite that ends the process must not take the others' results along.
                if (ledger is not null)
                    Ledger.Add(ledger, [result]);
            }
            return Finish(results, ledger: null);
        });
        return command;
    }

    private static Command CreateList()
    {
        var command = new Command("list", "Names the suites.");
        command.SetAction(_ =>
        {
            Table table = new Table().Border(TableBorder.Rounded).AddColumns("suite", "what is done", "unit", "in tests", "full run");
            foreach (Suite suite in SuiteCatalog.All)
                table.AddRow(suite.Name, suite.Summary, suite.Unit, Number(suite.TestCount), Number(suite.FullCount));
            AnsiConsole.Write(table);
        });
        return command;
    }

    private static SuiteResult RunWithProgress(Suite suite, RunPlan plan)
    {
        // Before it runs: should it end the process, this is what to run again.
        Console.WriteLine($"{suite.Name}, seed {plan.Seed.ToString(CultureInfo.InvariantCulture)}");
        SuiteResult? result = null;
        AnsiConsole.Progress()
            .AutoClear(true)
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new RemainingTimeColumn())
            .Start(context =>
            {
                ProgressTask task = context.AddTask(suite.Name, maxValue: 1);
                result = new SuiteRunner(suite, plan).Run(done => task.Value = done);
            });
        return result!;
    }

    private static int Replay(Failure failure)
    {
        if (failure.Fault is { } fault)
            EngineSetup.Plant(fault);
        (Exception? exception, IReadOnlyCollection<string> steps) = SuiteRunner.Replay(SuiteCatalog.Find(failure.Suite), failure);
        foreach (string step in steps)
            Console.WriteLine(step);
        Console.WriteLine(exception is null ? "It does not fail." : exception.ToString());
        return exception is null ? 0 : Program.ExitFailure;
    }

    private static int Finish(IReadOnlyList<SuiteResult> results, string? ledger)
    {
        if (ledger is not null)
            Ledger.Add(ledger, results);
        ResultTable.Write(results);
        return results.Any(result => result.Failures.Count > 0) ? Program.ExitFailure : 0;
    }

    private static string Number(long number) => number.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>What every way of running suites takes.</summary>
    private sealed record Common(
        Option<long?> Seed, Option<string> Failures, Option<string?> Ledger, Option<double> ShrinkSeconds, Option<int> Threads)
    {
        private const double DefaultShrinkSeconds = 60;

        public static Common AddTo(Command command)
        {
            var common = new Common(
                new Option<long?>("--seed") { Description = "Decides all choices; else taken from the clock.", HelpName = "S" },
                new Option<string>("--failures")
                {
                    Description = "Where failing scripts are saved.",
                    DefaultValueFactory = _ => "torture-failures",
                    HelpName = "DIR",
                },
                new Option<string?>("--ledger") { Description = "Adds the results to this file.", HelpName = "FILE" },
                new Option<double>("--shrink-seconds")
                {
                    Description = "How long to look for a shorter script of a failure.",
                    DefaultValueFactory = _ => DefaultShrinkSeconds,
                    HelpName = "SECONDS",
                },
                new Option<int>("--threads") { Description = "Runs at a time; else as many as a suite likes.", HelpName = "N" });
            command.Options.Add(common.Seed);
            command.Options.Add(common.Failures);
            command.Options.Add(common.Ledger);
            command.Options.Add(common.ShrinkSeconds);
            command.Options.Add(common.Threads);
            return common;
        }

        public RunPlan PlanOf(ParseResult parsed, long count) => new(count, parsed.GetValue(Seed) ?? Environment.TickCount64)
        {
            FailureDirectory = parsed.GetRequiredValue(Failures),
            ShrinkTime = TimeSpan.FromSeconds(parsed.GetValue(ShrinkSeconds)),
            Threads = parsed.GetValue(Threads),
        };
    }
}
