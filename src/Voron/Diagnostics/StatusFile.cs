using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;
using Voron.IO;

namespace Voron.Diagnostics;

/// <summary>The file in which an environment that is open for writing shows its figures to other processes.</summary>
/// <remarks>
/// <c>docs/file-format.md</c> describes the block.
/// A reader and the writer use the file concurrently without a lock, so a reader may see parts of two blocks. The checksum reveals this, and the
/// reader reads again.
/// </remarks>
internal static class StatusFile
{
    public const string FileName = "voron.status";

    /// <summary>The length of the file in bytes: one block.</summary>
    public const int Length = JournalFormat.Block;

    /// <summary>The maximum length of the cause in bytes.</summary>
    private const int MaxCause = 1024;

    private const int MaxReads = 10;

    private static readonly TimeSpan PauseBetweenReads = TimeSpan.FromMilliseconds(1);

    /// <summary>Lays out a block.</summary>
    /// <param name="status">The figures. Magic, layout, length of the cause and checksum are set here.</param>
    /// <param name="cause">The cause of a poisoned environment, which may be truncated; or null.</param>
    /// <param name="block">Receives the block, of <see cref="Length"/> bytes.</param>
    public static void Fill(StatusBlock status, string? cause, Span<byte> block)
    {
        block.Clear();
        var text = cause == null ? [] : Encoding.UTF8.GetBytes(cause);
        var kept = LengthOf(text);
        text.AsSpan(0, kept).CopyTo(block[StatusBlock.Size..]);
        status.Magic = StatusBlock.FileMagic;
        status.Layout = StatusBlock.LayoutVersion;
        status.CauseLength = kept;
        status.Checksum = 0;
        MemoryMarshal.Write(block, status);
        status.Checksum = StatusBlock.ChecksumOf(block);
        MemoryMarshal.Write(block, status);
    }

    /// <summary>Reads the status file of a directory. Returns null if there is none that can be used.</summary>
    /// <param name="disk">The directory.</param>
    /// <param name="reason">The fault of the file.</param>
    public static StatusReading? TryRead(IDisk disk, out string reason)
    {
        reason = "";
        var block = new byte[Length];
        for (var reads = 0; reads < MaxReads; reads++)
        {
            try
            {
                using var file = disk.Open(FileName, DiskOpen.Existing, DiskAccess.Buffered);
                if (file.Length >= Length)
                {
                    file.Read(0, block);
                    if (TryParse(block, out var found, out reason))
                        return found;
                }
                else
                {
                    reason = $"'{file.Path}' has {file.Length} bytes instead of {Length}";
                }
            }
            catch (DiskException e)
            {
                // The file is missing, has been deleted, or is not a file.
                reason = e.Message;
                if (e.Error != DiskError.EndOfFile)
                    return null;
            }

            // The process may be writing the block, or creating the file.
            Thread.Sleep(PauseBetweenReads);
        }

        return null;
    }

    /// <summary>Returns the session that has written a file; the default value for an empty file.</summary>
    /// <exception cref="DiskException">The file is not a status file, or cannot be read.</exception>
    public static RandomId SessionOf(DiskFile file)
    {
        if (file.Length == 0)
            return default;
        Span<byte> start = stackalloc byte[StatusBlock.Size];
        StatusBlock status = default;
        if (file.Length >= StatusBlock.Size)
        {
            file.Read(0, start);
            status = MemoryMarshal.Read<StatusBlock>(start);
        }

        return status.Magic == StatusBlock.FileMagic
            ? status.Session
            : throw new DiskException(DiskError.AlreadyExists, "write", file.Path, "it has the name of a status file, but is not one. Move it elsewhere");
    }

    private static bool TryParse(byte[] block, [NotNullWhen(true)] out StatusReading? reading, out string reason)
    {
        reading = null;
        var status = MemoryMarshal.Read<StatusBlock>(block);
        if (status.Magic != StatusBlock.FileMagic)
            reason = $"'{FileName}' is not a status file";
        else if (status.Checksum != StatusBlock.ChecksumOf(block))
            reason = $"'{FileName}' has a wrong checksum";
        else if (status.Layout != StatusBlock.LayoutVersion)
            reason = $"'{FileName}' has layout {status.Layout}, but this program knows only {StatusBlock.LayoutVersion}";
        else if (status.CauseLength is < 0 or > MaxCause)
            reason = $"'{FileName}' has a cause of {status.CauseLength} bytes";
        else
            reason = "";
        if (reason.Length > 0)
            return false;
        var cause = status.CauseLength == 0 ? null : Encoding.UTF8.GetString(block, StatusBlock.Size, status.CauseLength);
        reading = new StatusReading(status, cause);
        return true;
    }

    // Truncates a long text at a character boundary.
    private static int LengthOf(byte[] text)
    {
        var length = Math.Min(text.Length, MaxCause);
        while (length > 0 && length < text.Length && (text[length] & 0xC0) == 0x80)
            length--;
        return length;
    }
}

/// <summary>A block of the status file.</summary>
/// <param name="Block">The figures.</param>
/// <param name="Cause">The reason why a poisoned environment accepts no more writes; else null.</param>
internal sealed record StatusReading(StatusBlock Block, string? Cause);
