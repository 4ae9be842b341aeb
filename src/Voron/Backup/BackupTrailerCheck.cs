using Voron.Format;

namespace Voron.Backup;

/// <summary>Checks the content of the last frame.</summary>
internal static unsafe class BackupTrailerCheck
{
    /// <summary>Returns the trailer in a payload.</summary>
    /// <param name="payload">The payload, whose length and checksum have been checked.</param>
    /// <param name="header">The header of the backup.</param>
    /// <param name="end">The offset of the end of the trailer.</param>
    /// <param name="place">The place of the trailer.</param>
    public static BackupTrailer Read(byte* payload, in BackupHeader header, long end, BackupPlace place)
    {
        var trailer = *(BackupTrailer*)payload;
        Expect(place, "end", trailer.Bytes, end);
        if (end % BackupHeader.BlockBytes != 0)
            throw place.Damaged($"is the trailer, but ends at offset {end}, which is not a multiple of {BackupHeader.BlockBytes}");
        Expect(place, "number of frames", trailer.Frames, place.Sequence);
        if (FindFault(trailer, header) is { } fault)
            throw place.Damaged($"is the trailer, and {fault}");
        var spare = new ReadOnlySpan<byte>(payload + BackupTrailer.Size, BackupTrailer.PayloadBytes - BackupTrailer.Size);
        if (spare.ContainsAnyExcept((byte)0))
            throw place.Damaged($"is the trailer, but contains nonzero bytes from offset {BackupTrailer.Size} of its payload on");
        return trailer;
    }

    /// <summary>Throws unless a value of the trailer matches the frames before it.</summary>
    public static void Expect(BackupPlace place, string what, long claimed, long actual)
    {
        if (claimed != actual)
            throw place.Damaged($"is the trailer and claims the {what} {claimed}, but the backup has {actual}");
    }

    private static string? FindFault(in BackupTrailer trailer, in BackupHeader header)
    {
        if (trailer.TransactionId is < 0 or > StateStructure.MaxTransactionId || trailer.TransactionId < header.ParentTransactionId)
            return $"has the impossible transaction {trailer.TransactionId} after transaction {header.ParentTransactionId} of the parent";
        if (trailer.CommitTime < 0 || trailer.CommitTime > DateTime.MaxValue.Ticks)
            return $"has the impossible commit time {trailer.CommitTime}";
        if (trailer.FinishedAt < 0 || trailer.FinishedAt > DateTime.MaxValue.Ticks)
            return $"has the impossible time {trailer.FinishedAt}";
        if (trailer.UsedPages < 0 || trailer.UsedPages > trailer.PageCount || trailer.PageCount > uint.MaxValue || trailer.CopiedPages < 0)
            return $"has impossible counts: {trailer.UsedPages} used of {trailer.PageCount} pages, {trailer.CopiedPages} copied";
        return (trailer.Flags & ~BackupTrailerFlags.IsBase) != 0 ? $"has the unknown flags {(uint)trailer.Flags:X8}" : null;
    }
}
