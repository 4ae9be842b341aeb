namespace Voron.Format;

/// <summary>
/// What page 0 says in its header of the checkpoint that the data file belongs to: the number of the last flush that has touched it, and
/// whether that flush had written all of its pages. Zero: no flush has stamped the file yet.
/// </summary>
/// <remarks>
/// <code>
///   bit 63          62 to 56                    55 to 48                     47 to 0
///   unfinished      bits 6 to 0 of the number   bits 14 to 7 of the number   the number
/// </code>
/// A power cut may leave bytes of two stamps that were written one after the other. The repeated bits keep such a mixture from being a third
/// stamp: its highest byte is that of one of the two, and a third with the same byte is 128 flushes away or more.
/// </remarks>
internal static class DataFileStamp
{
    /// <summary>Where it stands in the data file: in the part of page 0 that its checksum leaves out.</summary>
    public const int Offset = 8;

    public const int Size = sizeof(ulong);

    /// <summary>Set while the flush is under way: pages of it may be there, and others missing.</summary>
    private const ulong Unfinished = 1UL << 63;

    private const ulong NumberMask = (1UL << 48) - 1;

    /// <summary>Before the first page of a flush is overwritten.</summary>
    public static ulong Begun(long number) => Finished(number) | Unfinished;

    /// <summary>When all pages of a flush are written.</summary>
    public static ulong Finished(long number)
    {
        var stamp = (ulong)number & NumberMask;
        return stamp | (stamp >> 7 & 0xFF) << 48 | (stamp & 0x7F) << 56;
    }

    public static long NumberOf(ulong stamp) => (long)(stamp & NumberMask);

    public static string Describe(ulong stamp) =>
        stamp == 0 ? "none" : (stamp & Unfinished) != 0 ? $"{NumberOf(stamp)}, unfinished" : $"{NumberOf(stamp)}";

    /// <summary>Whether each byte is that of one of the stamps, as in a sector that was being written when the power failed.</summary>
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
