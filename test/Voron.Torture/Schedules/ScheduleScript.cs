using Voron.Simulation.Harness;

namespace Voron.Torture.Schedules;

/// <summary>The kinds of operations of a script's threads.</summary>
internal enum ScriptedKind
{
    /// <summary>Writes some keys and commits.</summary>
    Commit,

    /// <summary>Commits without waiting.</summary>
    CommitAsync,

    /// <summary>Reads everything in a write transaction, changes nothing, and commits.</summary>
    CommitNothing,

    /// <summary>Does the same as <see cref="CommitNothing"/>, but without waiting.</summary>
    CommitNothingAsync,

    /// <summary>Writes, and rolls back.</summary>
    RollBack,

    /// <summary>Writes, rolls a part back to a savepoint, and commits the rest.</summary>
    Savepoint,

    /// <summary>Submits operations for group commit.</summary>
    GroupCommit,

    /// <summary>Does the same as <see cref="GroupCommit"/>, but one of the operations throws.</summary>
    GroupCommitFailing,

    /// <summary>Submits one operation for group commit, and blocks until it is durable.</summary>
    GroupCommitBlocking,

    /// <summary>Waits for everything that was committed without waiting.</summary>
    Await,

    /// <summary>Reads everything, several times, in one snapshot.</summary>
    Read,

    /// <summary>Reads a key or two, as short transactions do.</summary>
    Glance,

    /// <summary>
    /// Forks the snapshot of another thread that does the same, or else one of its own; ends the original, and reads everything in the fork;
    /// several times in a row.
    /// </summary>
    Fork,
    Flush,
    JournalSnapshot,
    PrepareSpare,
    GrowAhead,
    ConfirmDurability,
    Trim,
    Verify,
    Reclaim,

    /// <summary>Copies the files that a killed process would leave.</summary>
    Kill,

    /// <summary>Makes a backup of everything. The first bit of the keys, and the times, choose how often its snapshot is renewed.</summary>
    Backup,

    /// <summary>Makes a backup of what has changed since the last one; does the same as <see cref="Backup"/> if there is none.</summary>
    BackupChanges,

    /// <summary>Makes the data file shorter. With more than one time, waits for readers as long as there are any; otherwise not at all.</summary>
    Compact,

    /// <summary>Cancels the backups and compactions of other threads.</summary>
    Cancel,

    /// <summary>Makes every later write to the journal fail.</summary>
    FailWrites,
    Close,
}

/// <param name="Kind">The kind of operation.</param>
/// <param name="Keys">The keys, one bit each.</param>
/// <param name="Times">The number of reads, of forks, or of operations submitted for group commit.</param>
internal readonly record struct Scripted(ScriptedKind Kind, int Keys = 0b1, int Times = 1)
{
    public override string ToString() => $"{Kind} {Convert.ToString(Keys, 2)} {Times}";
}

/// <summary>The operations of the threads, and the environment in which they run.</summary>
/// <param name="Threads">The operations of each thread.</param>
/// <param name="Setup">The operations that one thread performs before these.</param>
internal sealed record ScheduleScript(IReadOnlyList<IReadOnlyList<Scripted>> Threads, IReadOnlyList<Scripted> Setup)
{
    public const int MaxKeys = 14;

    /// <summary>The bit of the key with values large enough to be written to the data file, which a compaction copies without the writer.</summary>
    public const int LargeValue = 1 << LargeKey;

    private const int LargeKey = 11;

    /// <summary>Covers two full sections after the first.</summary>
    private const int BallastBytes = 9 << 20;

    /// <summary>Leaves places for what lies behind it, and is worth a compaction.</summary>
    private const int SmallBallastBytes = 160 << 10;

    /// <summary>One thread in this many backs up: restoring what it makes takes as long as several schedules.</summary>
    private const int BackUpOneIn = 24;

    private static readonly ScriptedKind[] BackingUp =
        [ScriptedKind.Backup, ScriptedKind.BackupChanges, ScriptedKind.BackupChanges, ScriptedKind.Commit, ScriptedKind.Cancel];

    /// <summary>Operations of the engine's own thread only, which has ended when an environment is closed.</summary>
    private static readonly ScriptedKind[] Background = [ScriptedKind.PrepareSpare, ScriptedKind.GrowAhead, ScriptedKind.ConfirmDurability];

    public int KeyCount { get; init; } = 8;

    public StorageOptions Options { get; init; } = OptionsWith();

    /// <summary>The number of bytes to which a file in memory can grow before it moves, which moves the map.</summary>
    public long Reservation { get; init; } = 1 << 30;

    /// <summary>The size in bytes of a value that is put and deleted first, so that the file can be truncated.</summary>
    public int Ballast { get; init; }

    /// <summary>True if the keys are written behind that value, so that a compaction has something to move.</summary>
    public bool IsBehindBallast { get; init; }

    /// <summary>True if the journal may begin a second write while one is under way.</summary>
    public bool OverlapsWrites { get; init; }

    /// <summary>True if writes fail from some point on.</summary>
    public bool FailsWrites => Has(ScriptedKind.FailWrites);

    /// <summary>Small scripts, for which all schedules with a few preemptions are tried.</summary>
    public static IReadOnlyList<ScheduleScript> Small { get; } = MakeSmall();

    /// <summary>Returns whether one of the threads performs an operation of a kind.</summary>
    public bool Has(ScriptedKind kind) => Threads.Append(Setup).Any(thread => thread.Any(scripted => scripted.Kind == kind));

    /// <summary>Returns a script with a file that a compaction makes shorter, and with something to move there.</summary>
    public static ScheduleScript Compacting(IReadOnlyList<IReadOnlyList<Scripted>> threads) =>
        new(threads, []) { KeyCount = LargeKey + 1, Ballast = SmallBallastBytes, IsBehindBallast = true };

    public static StorageOptions OptionsWith(bool background = false, long search = 0, int flushThreshold = 1 << 20, bool images = false) => new()
    {
        BackgroundFlush = background,
        MaxGroupCommitDuration = TimeSpan.FromDays(1),
        ScrubInterval = Timeout.InfiniteTimeSpan,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 64 << 10,
        FlushThresholdBytes = flushThreshold,
        JournaledValueBytes = 0,
        FlushInterval = TimeSpan.FromDays(20),
        TornPageProtection = images ? TornPageProtection.FullPageImages : TornPageProtection.Checksums,
        JournalLimitBytes = 16 << 20,
        JournalCompression = JournalCompression.Never,
        ScratchMemoryBytes = 4 << 20,
        ScratchLimitBytes = 64 << 20,
        KeyHeadCacheBytes = search,
        MaxGrowthBytes = 1 << 20,
    };

    /// <summary>Draws a random script.</summary>
    public static ScheduleScript Random(SuiteRun run)
    {
        var choices = run.Choices;
        var cutsFile = choices.Next(64) == 63;
        var closes = choices.Next(10) == 9;
        var background = choices.Next(6) == 5;
        var fails = choices.Next(8) == 7;
        var compacts = choices.Next(12) == 11;
        var keys = compacts ? choices.Next(LargeKey + 1, MaxKeys + 1) : choices.Next(3, MaxKeys + 1);
        long search = choices.Next(3) switch { 0 => 0, 1 => 1, _ => 1 << 16 };
        var script = new ScheduleScript([], [])
        {
            KeyCount = keys,
            Options = OptionsWith(background, search, choices.Next(2) == 0 ? 1 << 20 : 24 << 10, choices.Next(4) == 3),
            Reservation = choices.Next(3) == 2 ? 1 << 20 : 1 << 30,
            Ballast = cutsFile ? BallastBytes : compacts ? SmallBallastBytes : 0,
            IsBehindBallast = compacts,

            // Chosen without another draw.
            OverlapsWrites = run.Index % 3 == 1,
        };
        run.Step(
            $"{keys} keys, search memory {search}, flush threshold {script.Options.FlushThresholdBytes}, {script.Options.TornPageProtection}, "
            + $"reservation {script.Reservation}, ballast {script.Ballast}, {(background ? "flusher in the background" : "no flusher")}");
        var setup = new List<Scripted>();
        for (var i = choices.Next(4); i > 0 && choices.HasMore; i--)
            setup.Add(Draw(run, "setup", keys, false, [ScriptedKind.Commit, ScriptedKind.CommitAsync, ScriptedKind.Flush, ScriptedKind.Glance]));
        var threads = new List<IReadOnlyList<Scripted>>();
        for (var thread = choices.Next(2, 5); thread > 0 && choices.HasMore; thread--)
            threads.Add(DrawThread(run, $"thread {threads.Count}", script, closes, threads.Count == 1));
        if (fails && threads.Count > 0)
            threads[0] = [.. threads[0].Take(1), new Scripted(ScriptedKind.FailWrites), .. threads[0].Skip(1)];
        return script with { Setup = setup, Threads = threads };
    }

    private static List<Scripted> DrawThread(SuiteRun run, string who, ScheduleScript script, bool closes, bool isCloser)
    {
        var choices = run.Choices;
        var kinds = choices.Next(BackUpOneIn) == BackUpOneIn - 1 ? BackingUp : choices.Next(4) switch
        {
            0 => [ScriptedKind.Read, ScriptedKind.Glance, ScriptedKind.Read, ScriptedKind.Verify, ScriptedKind.Fork],
            1 => [ScriptedKind.Commit, ScriptedKind.CommitAsync, ScriptedKind.Savepoint, ScriptedKind.RollBack, ScriptedKind.Await,
                ScriptedKind.Commit, ScriptedKind.CommitNothing, ScriptedKind.CommitNothingAsync, ScriptedKind.GroupCommitBlocking],
            2 => [ScriptedKind.Flush, ScriptedKind.Flush, ScriptedKind.JournalSnapshot, ScriptedKind.PrepareSpare, ScriptedKind.GrowAhead,
                ScriptedKind.ConfirmDurability, ScriptedKind.Trim, ScriptedKind.Kill],
            _ => [.. Enum.GetValues<ScriptedKind>()
                .Where(kind => kind is not (ScriptedKind.Close or ScriptedKind.Reclaim or ScriptedKind.FailWrites or ScriptedKind.Backup))],
        };
        if (script.Ballast > 0)
            kinds = [.. kinds, ScriptedKind.Reclaim, ScriptedKind.GrowAhead, ScriptedKind.GrowAhead];
        if (script.IsBehindBallast)
            kinds = [.. kinds, ScriptedKind.Compact, ScriptedKind.Compact, ScriptedKind.Kill];
        if (closes)
            kinds = [.. kinds.Except(Background), ScriptedKind.Commit];
        var scripted = new List<Scripted>();
        for (var i = choices.Next(1, 5); i > 0 && choices.HasMore; i--)
            scripted.Add(Draw(run, who, script.KeyCount, closes && isCloser && i == 1, kinds));
        return scripted;
    }

    private static Scripted Draw(SuiteRun run, string who, int keys, bool closes, ScriptedKind[] kinds)
    {
        var choices = run.Choices;
        choices.Mark();
        var kind = closes ? ScriptedKind.Close : kinds[choices.Next(kinds.Length)];
        var drawn = new Scripted(kind, 1 + choices.Next((1 << keys) - 1), 1 + choices.Next(3));
        run.Step($"{who}: {drawn}");
        return drawn;
    }

    private static List<ScheduleScript> MakeSmall()
    {
        Scripted commit = new(ScriptedKind.Commit, 0b111), other = new(ScriptedKind.Commit, 0b11110), pipelined = new(ScriptedKind.CommitAsync, 0b11);
        Scripted one = new(ScriptedKind.Commit, 0b1);
        Scripted read = new(ScriptedKind.Read, 1, 2), glance = new(ScriptedKind.Glance, 0b110), flush = new(ScriptedKind.Flush);
        Scripted failing = new(ScriptedKind.GroupCommitFailing, 0b11, 2), wait = new(ScriptedKind.Await);
        Scripted group = new(ScriptedKind.GroupCommit, 0b110, 1);
        Scripted nothing = new(ScriptedKind.CommitNothingAsync), blocking = new(ScriptedKind.GroupCommitBlocking, 0b11);
        Scripted full = new(ScriptedKind.Backup), changes = new(ScriptedKind.BackupChanges), compact = new(ScriptedKind.Compact);

        // Where one of the two changes deletes, it is that of the first key.
        Scripted large = new(ScriptedKind.Commit, LargeValue | 1), spare = new(ScriptedKind.PrepareSpare), runs = new(ScriptedKind.Commit, 1 << 5);
        return
        [
            new ScheduleScript([[commit, commit], [read]], [commit]),
            new ScheduleScript([[commit], [flush]], [commit, other]),
            new ScheduleScript([[read], [flush]], [commit, other]),
            new ScheduleScript([[commit, commit], [read], [flush]], [other]),
            new ScheduleScript([[glance], [one, one], [flush]], [commit]),
            new ScheduleScript([[pipelined, pipelined, wait], [commit]], [commit]),
            new ScheduleScript([[failing], [group], [glance]], [commit]),
            new ScheduleScript([[glance], [glance, read], [flush]], [commit, flush, commit]) { Options = OptionsWith(search: 1) },
            new ScheduleScript([[large, large], [new(ScriptedKind.GrowAhead)]], [commit]) { KeyCount = 12, Reservation = 1 << 20 },
            new ScheduleScript([[runs, runs], [spare, flush], [new(ScriptedKind.Kill)]], [runs, runs, runs, runs, runs]),
            new ScheduleScript([[read], [commit, new(ScriptedKind.Close)]], [commit]),
            new ScheduleScript([[read, glance], [commit, new(ScriptedKind.JournalSnapshot)], [flush]], [commit]),
            new ScheduleScript([[glance], [one, one, one], [flush, new(ScriptedKind.Kill)]], [commit, flush, other]),
            new ScheduleScript([[read], [flush, other, commit]], [commit, other]),
            new ScheduleScript([[new(ScriptedKind.GrowAhead)], [new(ScriptedKind.Reclaim)]], [commit]) { Ballast = BallastBytes },
            new ScheduleScript([[commit, glance], [other]], [commit, flush]) { Options = OptionsWith(background: true, flushThreshold: 8 << 10) },
            new ScheduleScript([[pipelined, nothing, wait], [new(ScriptedKind.CommitNothing), glance]], [commit]),
            new ScheduleScript([[blocking], [group], [blocking, glance]], [commit]),
            new ScheduleScript([[pipelined, nothing, wait], [blocking], [new(ScriptedKind.FailWrites), group]], [commit]),
            new ScheduleScript([[new(ScriptedKind.Fork, 1, 2)], [one, one, one]], [commit, flush, other]),
            new ScheduleScript([[new(ScriptedKind.Fork), one, one], [new(ScriptedKind.Fork)]], [commit, flush, other]),
            new ScheduleScript([[changes], [large, flush]], [commit, flush, full, one]) { KeyCount = LargeKey + 1 },
            new ScheduleScript([[full], [one, new(ScriptedKind.Close)]], [commit, flush]),
            Compacting([[compact], [large, glance, flush]]),
        ];
    }
}
