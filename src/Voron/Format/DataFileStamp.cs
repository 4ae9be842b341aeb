namespace Voron.Format;

/// <summary>
/// The stamp in the header of page 0, which shows the checkpoint that the data file belongs to: the number of the last flush that touched
/// the file, and whether that flush had written all of its pages. Zero if no flush has stamped the file yet.
/// </summary>
/// <remarks>
/// <code>
///   bit 63          62 to 56                    55 to 48                     47 to 0
///   unfinished      bits 6 to 0 of the number   bits 14 to 7 of the number   the number
/// </code>
/// A power cut may leave bytes of two stamps that were written one after the other. The repeated bits prevent such a mixture from being a
/// third stamp: its highest byte is that of one of the two, and a third stamp with the same byte is at least 128 flushes away.
/// </remarks>
internal static class DataFileStamp
{
    /// <summary>The offset of the stamp in the data file: in the part of page 0 that the page's checksum leaves out.</summary>
    public const int Offset = 8;

    public const int Size = sizeof(ulong);

    /// <summary>Set while the flush is in progress: some of its pages may be in the file, and others missing.</summary>
    private const ulong Unfinished = 1UL << 63;

    private const ulong NumberMask = (1UL << 48) - 1;

    /// <summary>Returns the stamp to write before the first page of a flush is overwritten.</summary>
    public static ulong Begun(long number) => Finished(number) | Unfinished;

    /// <summary>Returns the stamp to write when all pages of a flush are written.</summary>
    public static ulong Finished(long number)
    {
        var stamp = (ulong)number & NumberMask;
        return stamp | (stamp >> 7 & 0xFF) << 48 | (stamp & 0x7F) << 56;
    }

    public static long NumberOf(ulong stamp) => (long)(stamp & NumberMask);

    public static string Describe(ulong stamp) =>
        stamp == 0 ? "none" : (stamp & Unfinished) != 0 ? $"{NumberOf(stamp)} (unfinished)" : $"{NumberOf(stamp)}";

    /// <summary>
    /// Returns true if each byte comes from one of the stamps, as in a sector that was being written when the power failed.
    /// </summary>
    public static bool IsMixture(ulong stamp, List<ulong> stamps)
    {
        for (var shift = 0; shift < 64; shift += 8)
        {
            if (!stamps.Exists(candidate => (byte)(candidate >> shift) == (byte)(stamp >> shift)))
                return false;
        }

        return true;
    }
}
