using System.Globalization;
using Spectre.Console;
using Spectre.Console.Rendering;
using Voron.Diagnostics;
using Voron.Format;

namespace Voron.Tool.Running;

/// <summary>One look at a running environment.</summary>
/// <param name="Reading">What the process has written.</param>
/// <param name="Rates">What happens in a second; null at the first look.</param>
/// <param name="Now">The time of the look.</param>
internal sealed record TopSample(StatusReading Reading, StatusRates? Rates, DateTimeOffset Now)
{
    public StatusBlock Block => Reading.Block;

    public double Age => RunningFacts.AgeSeconds(Block, Now);
}

/// <summary>The forms in which <c>voron top</c> shows a look: a table on a terminal, a line in a file or pipe, an object of JSON.</summary>
internal static class TopView
{
    private static readonly (string Name, int Width)[] Columns =
    [
        ("time", 8), ("age", 7), ("commits/s", 10), ("journal/s", 11), ("flushed/s", 11), ("ms/write", 9), ("unflushed", 11), ("journal", 11),
        ("versions", 11), ("readers", 8), ("oldest", 9), ("data file", 11), ("state", 0),
    ];

    /// <summary>The names of the columns of <see cref="Line"/>.</summary>
    public static string Header { get; } = Join(Columns.Select(column => column.Name));

    /// <summary>Returns a look as a line of columns.</summary>
    public static string Line(TopSample sample)
    {
        var (block, rates) = (sample.Block, sample.Rates);
        return Join(
        [
            sample.Now.ToLocalTime().ToString("HH:mm:ss", CultureInfo.InvariantCulture),
            Sizes.Seconds(sample.Age),
            Shown(rates?.Commits, Sizes.Count),
            Shown(rates?.JournalBytes, Sizes.Bytes),
            Shown(rates?.FlushedBytes, Sizes.Bytes),
            Shown(rates?.WriteMilliseconds, Milliseconds),
            Sizes.Bytes(block.UnflushedJournalBytes),
            Sizes.Bytes(block.TotalJournalBytes),
            Sizes.Bytes(block.VersionBytes),
            Sizes.Count(block.OpenReaders),
            Shown(RunningFacts.OldestReaderSeconds(block, sample.Now), Sizes.Seconds),
            Sizes.Bytes(block.DataFileBytes),
            State(sample.Reading),
        ]);
    }

    /// <summary>Returns a look as named values.</summary>
    public static List<(string, object?)> Facts(TopSample sample)
    {
        var (block, rates) = (sample.Block, sample.Rates);
        return
        [
            ("time", sample.Now),
            ("process id", (uint)block.ProcessId),
            ("age seconds", sample.Age),
            ("transaction", block.TransactionId),
            ("commits per second", rates?.Commits),
            ("operations per second", rates?.Operations),
            ("journal bytes per second", rates?.JournalBytes),
            ("journal writes per second", rates?.JournalWrites),
            ("milliseconds per journal write", rates?.WriteMilliseconds),
            ("bytes past the journal per second", rates?.DirectBytes),
            ("flushed bytes per second", rates?.FlushedBytes),
            ("flushes per second", rates?.Flushes),
            ("unflushed journal bytes", block.UnflushedJournalBytes),
            ("journal bytes", block.TotalJournalBytes),
            ("live journal bytes", block.LiveJournalBytes),
            ("journal limit bytes", block.JournalLimitBytes),
            ("version bytes", block.VersionBytes),
            ("version limit bytes", block.ScratchLimitBytes),
            ("native memory bytes", block.NativeMemoryBytes),
            ("readers", block.OpenReaders),
            ("oldest reader transaction", RunningFacts.Known(block.OldestReaderTransactionId)),
            ("oldest reader seconds", RunningFacts.OldestReaderSeconds(block, sample.Now)),
            ("queued operations", block.QueuedOperations),
            ("data file bytes", block.DataFileBytes),
            ("free data file bytes", RunningFacts.Known(block.FreeDataFileBytes)),
            ("volume free bytes", RunningFacts.Known(block.VolumeFreeBytes)),
            ("backups under way", block.BackupsUnderWay),
            ("compactions under way", block.CompactionsUnderWay),
            ("writers delayed", block.Flags.HasFlag(StatusFlags.IsBackPressureActive)),
            ("poisoned", block.Flags.HasFlag(StatusFlags.IsPoisoned)),
        ];
    }

    /// <summary>Returns a look as a table for a terminal.</summary>
    public static IRenderable Table(string directory, TopSample sample)
    {
        var (block, rates) = (sample.Block, sample.Rates);
        var table = new Table { Border = TableBorder.Rounded, Title = new TableTitle(Markup.Escape(directory)), ShowHeaders = false };
        table.AddColumn(new TableColumn("").NoWrap()).AddColumn(new TableColumn("").RightAligned().NoWrap()).AddColumn("");
        Add(table, "process", block.ProcessId.ToString(CultureInfo.InvariantCulture), $"figures of {Sizes.Seconds(sample.Age)} ago; Ctrl-C ends");
        Add(table, "state", State(sample.Reading), sample.Reading.Cause ?? "");
        table.AddEmptyRow();
        Add(table, "commits", $"{Shown(rates?.Commits, Sizes.Count)}/s", $"transaction {Sizes.Count(block.TransactionId)}");
        Add(table, "operations", $"{Shown(rates?.Operations, Sizes.Count)}/s", $"{Sizes.Count(block.QueuedOperations)} waiting");
        var writes = $"{Shown(rates?.JournalWrites, Sizes.Count)} writes/s of {Shown(rates?.WriteMilliseconds, Milliseconds)} ms";
        Add(table, "journal written", $"{Shown(rates?.JournalBytes, Sizes.Bytes)}/s", writes);
        Add(table, "past the journal", $"{Shown(rates?.DirectBytes, Sizes.Bytes)}/s", "large values and new pages");
        Add(table, "flushed", $"{Shown(rates?.FlushedBytes, Sizes.Bytes)}/s", LastFlush(sample));
        table.AddEmptyRow();
        var unflushed = block.TransactionId - block.CheckpointTransactionId;
        Add(table, "to be flushed", Sizes.Bytes(block.UnflushedJournalBytes), $"{Sizes.Count(unflushed)} transactions");
        var needed = Sizes.Bytes(block.LiveJournalBytes);
        Add(table, "journal", Sizes.Bytes(block.TotalJournalBytes), $"{needed} needed, limit {Sizes.Bytes(block.JournalLimitBytes)}");
        var spilled = Sizes.Bytes(block.SpilledBytes);
        Add(table, "page versions", Sizes.Bytes(block.VersionBytes), $"limit {Sizes.Bytes(block.ScratchLimitBytes)}, {spilled} on disk");
        Add(table, "native memory", Sizes.Bytes(block.NativeMemoryBytes), $"{Sizes.Bytes(block.KeyHeadCacheBytes)} of it for lookups");
        Add(table, "readers", Sizes.Count(block.OpenReaders), OldestReader(sample));
        Add(table, "data file", Sizes.Bytes(block.DataFileBytes), $"{Shown(RunningFacts.Known(block.FreeDataFileBytes), Sizes.Bytes)} free");
        Add(table, "volume", Shown(RunningFacts.Known(block.VolumeFreeBytes), Sizes.Bytes), "free");
        return table;
    }

    /// <summary>Returns what is unusual at the moment, or what is under way.</summary>
    private static string State(StatusReading reading)
    {
        var block = reading.Block;
        var words = new List<string>();
        if (block.Flags.HasFlag(StatusFlags.IsPoisoned))
            words.Add("POISONED");
        if (block.Flags.HasFlag(StatusFlags.IsBackPressureActive))
            words.Add("writers delayed");
        if (block.BackupsUnderWay > 0)
            words.Add("backup");
        if (block.CompactionsUnderWay > 0)
            words.Add("compaction");
        if (block.LastScrubProblems > 0)
            words.Add($"{block.LastScrubProblems} problems found");
        return words.Count == 0 ? "open" : string.Join(", ", words);
    }

    private static string LastFlush(TopSample sample)
    {
        if (RunningFacts.Time(sample.Block.LastFlushTicks) is not { } time)
            return "none since the opening";
        var seconds = TimeSpan.FromTicks(sample.Block.LastFlushDuration).TotalSeconds;
        return $"last one {Sizes.Seconds(Math.Max(0, (sample.Now - time).TotalSeconds))} ago, of {Sizes.Seconds(seconds)}";
    }

    private static string OldestReader(TopSample sample)
    {
        if (RunningFacts.OldestReaderSeconds(sample.Block, sample.Now) is not { } seconds)
            return "";
        var behind = sample.Block.TransactionId - sample.Block.OldestReaderTransactionId;
        return $"oldest {Sizes.Seconds(seconds)}, {Sizes.Count(behind)} transactions behind";
    }

    private static string Milliseconds(double milliseconds) => milliseconds.ToString("F2", CultureInfo.InvariantCulture);

    private static void Add(Table table, string name, string value, string remark) =>
        table.AddRow(new Text(name), new Text(value), new Text(remark));

    private static string Shown(double? value, Func<double, string> format) => value is { } known ? format(known) : "-";

    private static string Join(IEnumerable<string> cells) =>
        string.Join(' ', cells.Select((cell, i) => Columns[i].Width == 0 ? cell : cell.PadLeft(Columns[i].Width)));
}
