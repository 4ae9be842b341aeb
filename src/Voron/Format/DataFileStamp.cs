namespace Voron.Format;

/// <summary>
/// What page 0 says in its header of the checkpoint that the data file belongs to: the number of the last flush that has touched it, and
/// whether that flush had written all of its pages. Zero: no flush has stamped the file yet.
/// </summary>
internal static class DataFileStamp
{
    /// <summary>Where it stands in the data file: in the part of page 0 that its checksum leaves out.</summary>
    public const int Offset = 8;

    public const int Size = sizeof(ulong);

    /// <summary>Set while the flush is under way: pages of it may be there, and others missing.</summary>
    private const ulong Unfinished = 1UL << 63;

    /// <summary>Before the first page of a flush is overwritten.</summary>
    public static ulong Begun(long number) => (ulong)number | Unfinished;

    /// <summary>When all pages of a flush are written.</summary>
    public static ulong Finished(long number) => (ulong)number;

    public static long NumberOf(ulong stamp) => (long)(stamp & ~Unfinished);

    public static string Describe(ulong stamp) =>
        stamp == 0 ? "none" : (stamp & Unfinished) != 0 ? $"{NumberOf(stamp)}, unfinished" : $"{NumberOf(stamp)}";
}
