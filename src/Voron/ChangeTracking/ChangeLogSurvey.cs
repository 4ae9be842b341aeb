using System.Globalization;
using Voron.Format;
using Voron.IO;

namespace Voron.ChangeTracking;

/// <summary>Whether an environment has a change log.</summary>
internal enum ChangeLogCondition
{
    /// <summary>The header names no log.</summary>
    None,

    /// <summary>A file contains the entry that the header names, and all before it.</summary>
    Complete,

    /// <summary>No file contains the entry that the header names: the next opening for writing ends the log.</summary>
    Lost,
}

/// <summary>
/// The content of the files of a change log, read without changing them, and without a tracker, which would end a log that it cannot read.
/// </summary>
internal sealed record ChangeLogSurvey
{
    public required ChangeLogCondition Condition { get; init; }

    /// <summary>All files that have the name of a log, in the order of their numbers.</summary>
    public required IReadOnlyList<SurveyedChangeLogFile> Files { get; init; }

    /// <summary>The file that is the log; null if there is none.</summary>
    public SurveyedChangeLogFile? Log { get; init; }

    /// <summary>The transaction since which the log contains all changes up to the checkpoint; null if there is no log.</summary>
    public long? Since => Log?.Entries[0].Header.From;

    /// <summary>Reads the files.</summary>
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="header">The header of the environment.</param>
    /// <param name="stop">Cancels the call.</param>
    /// <exception cref="DiskException">The directory cannot be listed.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ChangeLogSurvey Read(IDisk disk, in CheckpointHeader header, CancellationToken stop)
    {
        var target = new ChangeLogTarget(
            header.ChangeLogEntry, header.State.TransactionId, header.JournalSnapshotTransactionId, header.Lineage.Id);
        var files = new List<SurveyedChangeLogFile>();
        foreach (var number in ChangeLogFile.Numbers(disk).Order())
            files.Add(Read(disk, number, header.EnvironmentId, target, stop));

        // As an opening does, which takes the highest number first.
        var log = target.Named == 0 ? null : files.LastOrDefault(file => file.IsLog);
        return new ChangeLogSurvey
        {
            Condition = target.Named == 0 ? ChangeLogCondition.None : log == null ? ChangeLogCondition.Lost : ChangeLogCondition.Complete,
            Files = files,
            Log = log,
        };
    }

    private static SurveyedChangeLogFile Read(IDisk disk, long number, RandomId environmentId, in ChangeLogTarget target, CancellationToken stop)
    {
        var name = ChangeLogFile.NameOf(number);
        try
        {
            using var file = ChangeLogFile.OpenToInspect(disk, number, environmentId, target.Lineage);
            var entries = new List<SurveyedChangeLogEntry>();
            var isNamed = false;
            var counts = true;
            foreach (var place in file.Entries)
            {
                stop.ThrowIfCancellationRequested();
                counts = counts && (!isNamed || target.CountsBehindNamed(place.Header));
                isNamed |= target.IsNamed(place.Header);
                entries.Add(Describe(file, place, counts));
            }

            if (!isNamed)
                entries = entries.ConvertAll(entry => entry with { Counts = false });
            return new SurveyedChangeLogFile(name, file.Length) { Entries = entries, IsLog = isNamed, End = file.End };
        }
        catch (DiskException e)
        {
            return new SurveyedChangeLogFile(name, 0) { Failure = e.Message };
        }
    }

    private static SurveyedChangeLogEntry Describe(ChangeLogFile file, in ChangeLogPlace place, bool counts)
    {
        var header = place.Header;
        var entry = new SurveyedChangeLogEntry(header, place.Offset) { Counts = counts };
        if (header.Kind == ChangeLogEntryKind.Points)
            return entry with { Points = ChangeLogContent.PointsIn(file, place) };
        using var heap = new NativeHeap();
        using var pages = new ExtentSet(heap);
        if (!ChangeLogContent.TryAddPages(file, place, pages))
        {
            return entry with
            {
                Fault = string.Create(CultureInfo.InvariantCulture, $"The content of entry {header.Sequence} is malformed, although its checksum is right."),
            };
        }

        var count = 0L;
        foreach (var extent in pages.Extents)
            count += extent.Pages;
        return entry with { Pages = count };
    }
}

/// <summary>A file that has the name of a change log.</summary>
/// <param name="Name">The name of the file.</param>
/// <param name="Bytes">Its length.</param>
internal sealed record SurveyedChangeLogFile(string Name, long Bytes)
{
    /// <summary>The consecutive entries from the beginning of the file on, whether they count or not.</summary>
    public IReadOnlyList<SurveyedChangeLogEntry> Entries { get; init; } = [];

    /// <summary>Whether the file contains the entry that the header names, and all before it.</summary>
    public bool IsLog { get; init; }

    /// <summary>The offset after the last entry.</summary>
    public long End { get; init; }

    /// <summary>Why the file cannot be read; null if it can.</summary>
    public string? Failure { get; init; }
}

/// <summary>An entry of a change log.</summary>
/// <param name="Header">Its header.</param>
/// <param name="Offset">Its offset in the file.</param>
internal sealed record SurveyedChangeLogEntry(ChangeLogEntry Header, long Offset)
{
    /// <summary>Whether the entry counts.</summary>
    public bool Counts { get; init; }

    /// <summary>The number of changed pages; 0 for an entry of points.</summary>
    public long Pages { get; init; }

    public IReadOnlyList<BackupPoint> Points { get; init; } = [];

    /// <summary>The fault of the entry; null if there is none.</summary>
    public string? Fault { get; init; }
}
