using System.Buffers.Binary;
using Voron;
using Voron.KillTarget;

// Works until it is killed. Each report on standard output has eight bytes: zeros when the environment is open, the number of a commit when
// it is acknowledged, and a phase, negative, before it begins.
using var output = Console.OpenStandardOutput();
if (Environment.GetEnvironmentVariable(KillWorkload.FaultVariable) is { } fault)
    AppContext.SetData("Voron.PlantedFault", fault);

// "hold" and a directory: only keeps the environment open. Otherwise the directory and the seed come through standard input, so that the
// process has already started by then.
if (args is ["hold", var held])
{
    using var kept = StorageEnvironment.Open(held, KillWorkload.Options());
    Tell(0);
    Thread.Sleep(Timeout.Infinite);
    return;
}

// The reader of the reports then sees that the process has ended without being killed.
Voron.Torture.Memory.GuardedMemory.Install(finding =>
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
var random = new Random(int.Parse(seed, System.Globalization.CultureInfo.InvariantCulture));
while (true)
{
    TellPhase(KillPhase.Opening);
    using var environment = StorageEnvironment.Open(directory, KillWorkload.Options());
    Tell(0);
    var next = KillWorkload.Newest(environment) + 1;
    for (var left = random.Next(10, 80); left > 0; left--)
        next = Work(environment, next);
    TellPhase(KillPhase.Closing);
}

long Work(StorageEnvironment environment, long next)
{
    switch (random.Next(14))
    {
        case 0:
            TellPhase(KillPhase.Flushing);
            environment.Flush();
            return next;
        case 1:
            using (environment.BeginRead())
            {
                next = Commit(environment, next, KillPhase.Committing);
                TellPhase(KillPhase.JournalSnapshot);
                environment.Internals.WriteJournalSnapshot();
            }

            return next;
        case 2:
            TellPhase(KillPhase.Reclaiming);
            environment.ReclaimSpace();
            return next;
        case < 6:
            return Pipeline(environment, next);
        default:
            return Commit(environment, next, KillWorkload.IsLarge(next) ? KillPhase.Growing : KillPhase.Committing);
    }
}

long Commit(StorageEnvironment environment, long number, KillPhase phase)
{
    TellPhase(phase);
    using var writing = environment.BeginWrite();
    KillWorkload.Apply(writing, number);
    writing.Commit();
    Tell(number);
    return number + 1;
}

long Pipeline(StorageEnvironment environment, long next)
{
    TellPhase(KillPhase.Pipelining);
    var commits = new Task[KillWorkload.MaxUnderWay];
    for (var i = 0; i < commits.Length; i++)
    {
        using var writing = environment.BeginWrite();
        KillWorkload.Apply(writing, next + i);
        commits[i] = writing.CommitAsync().AsTask();
    }

    foreach (var commit in commits)
    {
        commit.GetAwaiter().GetResult();
        Tell(next++);
    }

    return next;
}

void TellPhase(KillPhase phase) => Tell(-(long)phase);

void Tell(long number)
{
    Span<byte> bytes = stackalloc byte[sizeof(long)];
    BinaryPrimitives.WriteInt64LittleEndian(bytes, number);
    output.Write(bytes);
    output.Flush();
}
