using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;

namespace Voron.ChangeTracking;

/// <summary>The two kinds of content of a change log entry: pages, and points.</summary>
internal static class ChangeLogContent
{
    /// <summary>Appends an entry with pages, and with additional pages if the entry would otherwise have too many bytes.</summary>
    /// <param name="file">The file.</param>
    /// <param name="header">The header, without the fields that describe the content.</param>
    /// <param name="pages">The pages.</param>
    /// <param name="maxBytes">The maximum number of bytes of content.</param>
    /// <inheritdoc cref="ChangeLogFile.Append"/>
    public static ulong AppendPages(ChangeLogFile file, ChangeLogEntry header, ExtentSet pages, long maxBytes)
    {
        pages.Coarsen(maxBytes);
        header.Count = pages.Count;
        header.PayloadBytes = pages.EncodedBytes();
        return file.Append(header, pages.Encode);
    }

    /// <summary>Appends an entry with points.</summary>
    /// <inheritdoc cref="AppendPages"/>
    public static void AppendPoints(ChangeLogFile file, ChangeLogEntry header, BackupPoint[] points)
    {
        header.Count = points.Length;
        header.PayloadBytes = points.Length * BackupPoint.Size;
        file.Append(header, content => MemoryMarshal.AsBytes(points.AsSpan()).CopyTo(content));
    }

    /// <summary>Adds the pages of an entry to a set.</summary>
    /// <returns>False if the entry is damaged.</returns>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    public static bool TryAddPages(ChangeLogFile file, in ChangeLogPlace place, ExtentSet pages) => file.TryUse(
        place, (in ChangeLogEntry header, ReadOnlySpan<byte> content) => pages.TryDecode(content, header.Count, uint.MaxValue), out var isDecoded)
        && isDecoded;

    /// <summary>Returns the points of an entry; none if it is one of pages.</summary>
    /// <exception cref="DiskException">The file cannot be read.</exception>
    public static BackupPoint[] PointsIn(ChangeLogFile file, in ChangeLogPlace place) => place.Header.Kind == ChangeLogEntryKind.Points
        && file.TryUse(place, ToPoints, out var points)
        ? points!
        : [];

    private static BackupPoint[] ToPoints(in ChangeLogEntry header, ReadOnlySpan<byte> content) =>
        MemoryMarshal.Cast<byte, BackupPoint>(content).ToArray();
}
