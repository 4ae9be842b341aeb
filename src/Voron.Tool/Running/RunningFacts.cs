using System.Globalization;
using Voron.Diagnostics;
using Voron.Format;

namespace Voron.Tool.Running;

/// <summary>The figures of a status file as the commands show them.</summary>
internal static class RunningFacts
{
    /// <summary>Shows the figures of the process that has an environment open, in place of those of the files.</summary>
    /// <param name="output">Receives the answer.</param>
    /// <param name="directory">The environment's directory.</param>
    /// <param name="reading">The figures.</param>
    /// <param name="isWhole">True to show all of them; false for what the environment is.</param>
    public static void Write(ToolOutput output, string directory, StatusReading reading, bool isWhole)
    {
        var now = DateTimeOffset.UtcNow;
        var block = reading.Block;
        var isSeen = ProcessCheck.IsSeen(block.ProcessId, block.ProcessStartTicks);
        if (output.Form == OutputForm.Table)
            output.WriteText(Describe(block, isSeen, now));
        List<(string, object?)> facts =
        [
            ("path", Path.GetFullPath(directory)),
            ("process id", (uint)block.ProcessId),
            ("process seen", isSeen),
            ("age seconds", AgeSeconds(block, now)),
            ("opened", Time(block.OpenedTicks)),
            .. isWhole ? Figures(reading, now) : What(block),
        ];
        output.WriteFacts(facts);
    }

    /// <summary>Returns the time in seconds since the figures were collected.</summary>
    public static double AgeSeconds(in StatusBlock block, DateTimeOffset now) =>
        Math.Max(0, TimeSpan.FromTicks(now.UtcTicks - block.UpdatedTicks).TotalSeconds);

    /// <summary>Returns the time in seconds for which the oldest snapshot has been in use; null if there is none.</summary>
    public static double? OldestReaderSeconds(in StatusBlock block, DateTimeOffset now) =>
        block.OldestReaderTicks <= 0 ? null : Math.Max(0, TimeSpan.FromTicks(now.UtcTicks - block.OldestReaderTicks).TotalSeconds);

    /// <summary>Returns a time of the block; null if it has none.</summary>
    public static DateTimeOffset? Time(long ticks) =>
        ticks > 0 && ticks <= DateTimeOffset.MaxValue.UtcTicks ? new DateTimeOffset(ticks, TimeSpan.Zero) : null;

    /// <summary>Returns a number of the block; null if it is not known.</summary>
    public static long? Known(long value) => value == StatusBlock.None ? null : value;

    private static string Describe(in StatusBlock block, bool isSeen, DateTimeOffset now)
    {
        var where = isSeen ? "" : ", which is not seen from here: it may run in another container";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"Open for writing in process {block.ProcessId}{where}. These are its figures of {AgeSeconds(block, now):F1} s ago; it writes them when something happens.");
    }

    private static List<(string, object?)> What(in StatusBlock block) =>
    [
        ("format version", (int)block.FormatVersion),
        ("page size", (int)block.PageSize),
        ("environment id", block.EnvironmentId.ToString()),
        ("transaction", block.TransactionId),
        ("pages", block.PageCount),
        ("data file bytes", block.DataFileBytes),
        ("journal bytes", block.TotalJournalBytes),
        ("poisoned", block.Flags.HasFlag(StatusFlags.IsPoisoned)),
    ];

    private static List<(string, object?)> Figures(StatusReading reading, DateTimeOffset now)
    {
        var block = reading.Block;
        return
        [
            ("transaction", block.TransactionId),
            ("checkpoint transaction", block.CheckpointTransactionId),
            ("transactions committed", block.CommittedTransactions),
            ("transactions rolled back", block.RolledBackTransactions),
            ("data file bytes", block.DataFileBytes),
            ("free data file bytes", Known(block.FreeDataFileBytes)),
            ("volume free bytes", Known(block.VolumeFreeBytes)),
            ("page size", (int)block.PageSize),
            ("pages", block.PageCount),
            ("journal bytes", block.TotalJournalBytes),
            ("live journal bytes", block.LiveJournalBytes),
            ("journal limit bytes", block.JournalLimitBytes),
            ("live journal files", block.LiveJournalFiles),
            ("journal bytes written", block.JournalBytes),
            ("bytes written past the journal", block.DirectBytes),
            ("unflushed journal bytes", block.UnflushedJournalBytes),
            ("flushes", block.Flushes),
            ("flushed bytes", block.FlushedBytes),
            ("last flush", Time(block.LastFlushTicks)),
            ("last flush seconds", block.LastFlushTicks == 0 ? null : TimeSpan.FromTicks(block.LastFlushDuration).TotalSeconds),
            ("version bytes", block.VersionBytes),
            ("version limit bytes", block.ScratchLimitBytes),
            ("spilled bytes", block.SpilledBytes),
            ("native memory bytes", block.NativeMemoryBytes),
            ("key head bytes", block.KeyHeadCacheBytes),
            ("staged bytes", block.StagedBytes),
            ("readers", block.OpenReaders),
            ("oldest reader transaction", Known(block.OldestReaderTransactionId)),
            ("oldest reader seconds", OldestReaderSeconds(block, now)),
            ("group committed operations", block.GroupCommittedOperations),
            ("queued operations", block.QueuedOperations),
            ("writer delays", block.BackPressureWaits),
            ("writer delay seconds", TimeSpan.FromTicks(block.BackPressureTicks).TotalSeconds),
            ("writers delayed", block.Flags.HasFlag(StatusFlags.IsBackPressureActive)),
            ("backups under way", block.BackupsUnderWay),
            ("compactions under way", block.CompactionsUnderWay),
            ("verifications", block.ScrubRuns),
            ("problems found", block.LastScrubProblems),
            ("poisoned", block.Flags.HasFlag(StatusFlags.IsPoisoned)),
            ("cause", reading.Cause),
        ];
    }
}
