using Voron.Format;

namespace Voron.Backup;

/// <summary>Checks a frame header before the payload is read, so that a forged length is never used.</summary>
internal static class BackupFrameLimits
{
    /// <summary>The most bytes of bits or of index entries in a frame.</summary>
    public const int MaxListBytes = 1 << 20;

    /// <summary>The most bytes of a note.</summary>
    public const int MaxNoteBytes = 64 << 10;

    /// <summary>A gap too small for a frame header is padded together with the following block.</summary>
    private const int MaxPaddingBytes = 2 * BackupHeader.BlockBytes;

    /// <summary>Returns null if the values are possible, otherwise a description of the impossible ones, as a predicate of the frame.</summary>
    public static string? FindFault(in BackupFrame frame)
    {
        if (frame.Kind is < BackupFrameKind.Pages or > BackupFrameKind.Trailer)
            return $"has the unknown kind {(uint)frame.Kind}";
        if ((frame.Flags & ~BackupFrameFlags.Compressed) != 0)
            return $"has the unknown flags {(uint)frame.Flags:X8}";
        var most = MaxRawBytes(frame.Kind);
        if (frame.RawBytes < 0 || frame.RawBytes > most)
            return $"has {frame.RawBytes} bytes, but a frame of kind {frame.Kind} has at most {most}";
        var isCompressed = frame.Flags == BackupFrameFlags.Compressed;
        if (isCompressed ? frame.StoredBytes <= 0 || frame.StoredBytes > frame.RawBytes : frame.StoredBytes != frame.RawBytes)
            return $"has {frame.RawBytes} bytes that are stored as {frame.StoredBytes}";
        if (frame.Link != 0 && frame.Kind is not (BackupFrameKind.UsedPages or BackupFrameKind.Index))
            return $"is of kind {frame.Kind}, but has the link {frame.Link}";
        return IsCount(frame) ? null : $"is of kind {frame.Kind} and has {frame.RawBytes} bytes, but claims a count of {frame.Count}";
    }

    // The counts of padding and trailer carry no information: their lengths follow from the file.
    private static bool IsCount(in BackupFrame frame) => frame.Kind switch
    {
        BackupFrameKind.Pages => frame.Count is > 0 and <= BackupFrame.MaxExtents
            && frame.RawBytes - frame.Count * BackupExtent.Size is > 0 and <= BackupFrame.MaxPageBytes,
        BackupFrameKind.State => frame is { Count: 1, RawBytes: EnvironmentState.Size },
        BackupFrameKind.UsedPages => frame.Count is > 0 and <= 8L * MaxListBytes && frame.RawBytes == (frame.Count + 7) / 8,
        BackupFrameKind.Index => frame.Count is > 0 and <= MaxListBytes && frame.RawBytes == frame.Count * BackupIndexEntry.Size,
        BackupFrameKind.Note => frame.Count == frame.RawBytes,
        BackupFrameKind.Trailer => frame is { RawBytes: BackupTrailer.PayloadBytes, Flags: BackupFrameFlags.None },
        _ => true,
    };

    private static int MaxRawBytes(BackupFrameKind kind) => kind switch
    {
        BackupFrameKind.Pages => BackupFrame.MaxRawBytes,
        BackupFrameKind.State => EnvironmentState.Size,
        BackupFrameKind.UsedPages or BackupFrameKind.Index => MaxListBytes,
        BackupFrameKind.Note => MaxNoteBytes,
        BackupFrameKind.Padding => MaxPaddingBytes,
        _ => BackupTrailer.PayloadBytes,
    };
}
