using System.Buffers.Text;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>
/// A lock on the open descriptor of a file: another descriptor, of this process too, cannot have it at the same time, and it
/// ends with the process. The exclusive owner's process id stands in the file, for messages only.
/// </summary>
internal sealed unsafe class PosixLock : IDisposable
{
    private const int MaxDigits = 20;

    private readonly SafeFileHandle? _handle;
    private readonly bool _owned;

    public PosixLock(SafeFileHandle? handle, bool owned)
    {
        _handle = handle;
        _owned = owned;
    }

    public static void WriteOwner(SafeFileHandle handle, string path)
    {
        byte* text = stackalloc byte[MaxDigits];
        Utf8Formatter.TryFormat(Environment.ProcessId, new Span<byte>(text, MaxDigits), out int length);
        if (Libc.Truncate(handle, 0) != 0 || Libc.Write(handle, text, (nuint)length, 0) != length)
        {
            // The lock is held all the same, and on a full disk an environment has to open: only a message would be shorter.
            int errno = Marshal.GetLastPInvokeError();
            if (Errno.ToDiskError(errno) != DiskError.NoSpace)
                Errno.Throw("lock", path, errno);
        }
    }

    public static int? ReadOwner(SafeFileHandle handle)
    {
        byte* text = stackalloc byte[MaxDigits];
        nint length = Libc.Read(handle, text, MaxDigits, 0);
        return length > 0 && Utf8Parser.TryParse(new ReadOnlySpan<byte>(text, (int)length), out int process, out _) ? process : null;
    }

    public void Dispose()
    {
        if (_handle is null || _handle.IsClosed)
            return;
        if (_owned)
            Libc.Truncate(_handle, 0);

        // A process that is just being started may have a copy of the descriptor, which would keep the lock for a moment.
        Libc.Lock(_handle, Platform.Unlock);
        _handle.Dispose();
    }
}
