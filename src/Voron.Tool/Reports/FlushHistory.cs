using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Tool.Reports;

/// <summary>A flush, or several, of which the change log tells.</summary>
/// <param name="From">The transaction before the first one of the flush.</param>
/// <param name="To">The last transaction of the flush.</param>
/// <param name="Pages">The number of pages that they have changed.</param>
internal readonly record struct FlushRecord(long From, long To, long Pages);

/// <summary>
/// Reads what the change log of an environment says about its flushes. The log begins with the first backup that others can build on, and its older
/// half is reduced now and then: it is a part of the history, and the only one that there is.
/// </summary>
internal static class FlushHistory
{
    /// <summary>Returns the flushes, the oldest first; none if there is no log.</summary>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static List<FlushRecord> Read(IDisk disk, CancellationToken stop)
    {
        try
        {
            using var checkpoints = HeaderFile.Open(disk);
            var entries = ChangeLogSurvey.Read(disk, checkpoints.Current, stop).Log?.Entries ?? [];
            return [.. entries.Where(entry => entry is { Counts: true, Fault: null, Header.Kind: ChangeLogEntryKind.Flush }).Select(ToRecord)];
        }
        catch (DiskException)
        {
            return [];
        }
    }

    private static FlushRecord ToRecord(SurveyedChangeLogEntry entry) => new(entry.Header.From, entry.Header.To, entry.Pages);
}
