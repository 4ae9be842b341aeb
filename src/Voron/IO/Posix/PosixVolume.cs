using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>
/// The part of a disk that its open files share: the kind of file system, the system calls on open files, and the capabilities that the file
/// system turned out to lack, with one warning for each.
/// </summary>
/// <remarks>Several threads may use it concurrently. It needs no lock: a capability that is missing once is missing from then on.</remarks>
internal sealed class PosixVolume
{
    private readonly string _path;
    private readonly ILogger _logger;
    private int _buffered;
    private int _warned;
    private int _warnedOfSync;
    private int _warnedOfMarks;

    public PosixVolume(string path, FileSystemKind kind, PosixCalls calls, ILogger logger)
    {
        _path = path;
        _logger = logger;
        Kind = kind;
        Calls = calls;
        _buffered = kind.IsMemory ? 1 : 0;
    }

    public FileSystemKind Kind { get; }

    /// <summary>The system calls that the files use.</summary>
    public PosixCalls Calls { get; }

    /// <inheritdoc cref="IDisk.IsUnbuffered"/>
    public bool IsUnbuffered => Volatile.Read(ref _buffered) == 0;

    /// <summary>Records that unbuffered transfers were refused, and warns once for the whole disk.</summary>
    public void NoteNotUnbuffered(string reason)
    {
        Volatile.Write(ref _buffered, 1);
        if (Interlocked.Exchange(ref _warned, 1) == 0)
            IoLog.NotUnbuffered(_logger, _path, reason);
    }

    /// <summary>
    /// Sets O_DIRECT on the open descriptor rather than in open, because an open that refuses the flag may already have created the file.
    /// </summary>
    public bool TryMakeUnbuffered(SafeFileHandle handle)
    {
        if (Platform.IsMac)
        {
            // macOS bypasses the cache as far as it can; transfers need no alignment there.
            if (Libc.Control(handle, Platform.NoCache, 1) < 0)
                NoteNotUnbuffered(Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()));
            return false;
        }

        if (Kind.IsMemory)
        {
            NoteNotUnbuffered("a file system in memory");
            return false;
        }

        // After one refusal, no other file is tried: all of them are written the same way.
        if (!IsUnbuffered)
            return false;
        if (TrySetDirect(handle, true))
            return true;
        NoteNotUnbuffered(Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()));
        return false;
    }

    /// <summary>Sets or clears O_DIRECT. Returns false on failure: the error number gives the reason.</summary>
    public static bool TrySetDirect(SafeFileHandle handle, bool on)
    {
        var flags = Libc.Control(handle, Platform.GetFlags, 0);
        return flags >= 0
            && Libc.Control(handle, Platform.SetFlags, on ? flags | Platform.Direct : flags & ~Platform.Direct) >= 0;
    }

    /// <summary>
    /// Syncs through the disk's calls, and warns once if a sync cannot reach the medium. Returns false on failure: the error number gives the
    /// reason.
    /// </summary>
    public bool TrySync(SafeFileHandle handle, bool metadata)
    {
        var isDone = Calls.TrySync(handle, metadata, out var isWeaker);
        if (isWeaker && Interlocked.Exchange(ref _warnedOfSync, 1) == 0)
            IoLog.WeakSync(_logger, _path);
        return isDone;
    }

    /// <summary>
    /// Marks a new file to be overwritten in place, and warns once about a file without the mark. A file that is overwritten elsewhere needs free
    /// space for that, even where it has blocks. The mark must be set before the file's first byte is written.
    /// </summary>
    public void SeeThatItIsMarked(SafeFileHandle handle, string path, bool isNew)
    {
        var isMarked = isNew ? Calls.TryMarkInPlace(handle) : Calls.IsMarkedInPlace(handle);
        if (!isMarked && Interlocked.Exchange(ref _warnedOfMarks, 1) == 0)
            IoLog.CopiesOnWrite(_logger, path, Kind.Name!);
    }
}
