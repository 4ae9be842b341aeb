using Voron.Format;
using Voron.Paging;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>Decides whether a data file and a header belong to one moment, or to two that a crash can have left together.</summary>
/// <remarks>
/// <code>
///   header of n ─▶ journal: the flush of m begins ─▶ stamp: m, unfinished ─▶ pages ─▶ stamp: m ─▶ synced ─▶ header of m
/// </code>
/// The header names the stamp that the data file had when the header was written. So a stamp is right when it is the header's, or when it belongs
/// to a flush that the journal after the header's start has begun, since replay then rebuilds every page that the flush may have touched. Any other
/// stamp belongs to a file of another moment. No two flushes share a number, even if one did not finish.
/// </remarks>
internal static class DataFileFit
{
    /// <summary>Checks the stamp of a data file, and returns the highest number that may have been taken.</summary>
    /// <exception cref="CorruptionException">The data file is older or newer than the header, or page 0 is damaged.</exception>
    public static long Check(ulong stamp, in CheckpointHeader header, FlushListCollector lists, DataFile file)
    {
        var isStamped = (header.Flags & CheckpointFlags.IsStamped) != 0;
        var candidates = new List<ulong> { isStamped ? header.DataFileStamp : 0 };
        var highest = header.CheckpointNumber;
        foreach (var low in lists.FlushNumbers)
        {
            // Flushes before this checkpoint had lower numbers; the header itself describes their results.
            var number = NumberNear(header.CheckpointNumber, low);
            if (low == 0 || number <= header.CheckpointNumber)
                continue;
            candidates.Add(DataFileStamp.Begun(number));
            candidates.Add(DataFileStamp.Finished(number));
            highest = Math.Max(highest, number);
        }

        // The flush broke off while it was writing a stamp, and page 0 with it: if the page was not even listed, no other copy exists.
        var isMadeAnew = lists.MayBeDamaged(0) || (header.JournalSnapshotNumber != 0 && lists.FlushNumbers.Count > 0);
        var fits = DataFileStamp.IsMixture(stamp, candidates) || IsOfOlderEngine(stamp, header, isStamped);
        if (!isMadeAnew && (!fits || lists.FlushNumbers.Count > 0) && file.TryVerify(0, out var cause) is { } fault)
            throw PageErrors.Failure($"{fault} Recovery cannot tell which checkpoint the file belongs to.", cause);
        if (!fits && !PlantedFault.BelieveStamp && !(isMadeAnew && IsSpoilt(lists, file)))
        {
            throw new CorruptionException(
                $"'{file.File.Path}' does not match its header: the file has checkpoint stamp {DataFileStamp.Describe(stamp)}, but the header of " +
                $"checkpoint {header.CheckpointNumber} expects stamp {DataFileStamp.Describe(candidates[0])}. Files of different copies have been " +
                "mixed. Restore all files of the environment from one copy.");
        }

        return highest;
    }

    /// <summary>
    /// Returns the number with these lowest bits that is nearest to another one: one process takes only a few numbers at a time.
    /// </summary>
    private static long NumberNear(long number, ushort low) => number + (short)(low - (ushort)number);

    // An engine without stamps leaves the last stamp in place, under headers of higher numbers. A new environment has no stamp.
    private static bool IsOfOlderEngine(ulong stamp, in CheckpointHeader header, bool isStamped) =>
        !isStamped && DataFileStamp.NumberOf(stamp) <= header.CheckpointNumber;

    // Page 0 itself was being overwritten, so its first bytes mean nothing; replay rebuilds the page.
    private static bool IsSpoilt(FlushListCollector lists, DataFile file) =>
        lists.FlushNumbers.Contains(0) || file.TryVerify(0, out _) != null;
}
