using Voron;
using Voron.KillTarget;

// Works until it is killed.
using var reports = new KillReports(Console.OpenStandardOutput());
if (Environment.GetEnvironmentVariable(KillWorkload.FaultVariable) is { } fault)
    AppContext.SetData("Voron.PlantedFault", fault);

// "hold" and a directory: only keeps the environment open. Otherwise the directory and the seed come through standard input, so that the
// process has already started by then.
if (args is ["hold", var held])
{
    using var kept = StorageEnvironment.Open(held, KillWorkload.Options());
    reports.Report(0);
    Thread.Sleep(Timeout.Infinite);
    return;
}

// "create" and a directory: creates an environment there when a line comes through standard input, and keeps it open.
if (args is ["create", var fresh])
{
    EnvironmentCreation.Run(fresh, Console.In, Console.Out);
    return;
}

// "operation", its name, its source and its target: performs it when a line comes through standard input.
if (args is ["operation", var operation, var from, var to])
{
    LongOperation.Run(operation, from, to, Console.In, Console.Out);
    return;
}

// The reader of the reports then sees that the process has ended without being killed.
Voron.Simulation.Memory.GuardedMemory.Install(finding =>
{
    Console.Error.WriteLine(finding);
    Environment.Exit(1);
});

// "limited", a directory and a number of bytes: works until a file would become longer than that.
if (args is ["limited", var limited, var limit])
{
    Console.Out.Write(FileSizeLimit.Run(limited, long.Parse(limit, System.Globalization.CultureInfo.InvariantCulture)));
    return;
}

// "cut", a directory and an operation: works while its data file is truncated.
if (args is ["cut", var cut, var what])
{
    Console.Out.WriteLine(CutFile.Run(cut, what, Console.In, Console.Out));
    return;
}

if (Console.In.ReadLine() is not { } directory || Console.In.ReadLine() is not { } seed)
    return;
new KillWorker(reports, int.Parse(seed, System.Globalization.CultureInfo.InvariantCulture)).Run(directory);
