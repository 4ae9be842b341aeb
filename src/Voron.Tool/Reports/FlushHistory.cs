using System.Runtime.InteropServices;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.Transactions;

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
    private const int MostPayload = 256 << 20;

    /// <summary>Returns the flushes, the oldest first; none if there is no log.</summary>
    public static List<FlushRecord> Read(string directory, Engine engine, long newestTransaction)
    {
        try
        {
            // Of two files that are there while the log is being reduced, either will do.
            var newest = Directory.GetFiles(directory).MaxBy(file => ChangeLogFile.NumberOf(Path.GetFileName(file)));
            if (newest is null || ChangeLogFile.NumberOf(Path.GetFileName(newest)) <= 0)
                return [];
            using var file = new FileStream(newest, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            return Read(file, engine.EnvironmentId, engine.Format.Lineage.Id, newestTransaction);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    // Ends at the first entry that is damaged, or that does not follow on the one before.
    private static List<FlushRecord> Read(FileStream file, RandomId environmentId, RandomId lineage, long newestTransaction)
    {
        var found = new List<FlushRecord>();
        var seed = Checksum.Seed(environmentId, (long)ChangeLogEntry.MarkerValue);
        ChangeLogEntry? last = null;
        var start = new byte[ChangeLogEntry.Size];
        while (file.ReadAtLeast(start, start.Length, throwOnEndOfStream: false) == start.Length)
        {
            var entry = MemoryMarshal.Read<ChangeLogEntry>(start);
            if (entry.Marker != ChangeLogEntry.MarkerValue || entry.Lineage != lineage || entry.To > newestTransaction
                || entry.PayloadBytes is < 0 or > MostPayload || (last is { } before && entry.Previous != before.Identity))
            {
                break;
            }

            var content = new byte[(int)entry.PayloadBytes];
            if (file.ReadAtLeast(content, content.Length, throwOnEndOfStream: false) < content.Length
                || Checksum.Compute([.. start.AsSpan(ChangeLogEntry.ChecksummedFrom), .. content], seed) != entry.Checksum)
            {
                break;
            }

            if (entry.Kind == ChangeLogEntryKind.Flush)
                found.Add(new FlushRecord(entry.From, entry.To, CountPages(content, entry.Count)));
            last = entry;
            file.Position = JournalFormat.AlignUp(file.Position);
        }

        return found;
    }

    // Numbers of seven bits a byte: the distance to the extent before, doubled, plus one if the number of pages follows.
    private static long CountPages(ReadOnlySpan<byte> content, long extents)
    {
        var pages = 0L;
        for (var i = 0L; i < extents && !content.IsEmpty; i++)
            pages += (ReadNumber(ref content) & 1) == 0 ? 1 : ReadNumber(ref content) + 2;
        return pages;
    }

    private static long ReadNumber(ref ReadOnlySpan<byte> content)
    {
        var number = 0L;
        for (var shift = 0; shift < 63 && !content.IsEmpty; shift += 7)
        {
            var part = content[0];
            content = content[1..];
            number |= (long)(part & 0x7F) << shift;
            if (part < 0x80)
                break;
        }

        return number;
    }
}
