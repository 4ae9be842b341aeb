using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>
/// The C library's calls, in the form that 64-bit Linux and macOS share. A handle that is disposed during a call is closed
/// after the call, so no call can reach a descriptor that has become another file.
/// </summary>
internal static unsafe partial class Libc
{
    private const string Library = "libc";

    public static int Open(string path, int flags, int mode) =>
        Platform.VariadicOnStack ? OpenOnStack(path, flags, 0, 0, 0, 0, 0, 0, mode) : OpenInRegisters(path, flags, mode);

    public static int OpenAt(SafeFileHandle directory, string name, int flags, int mode) =>
        Platform.VariadicOnStack
            ? OpenAtOnStack(directory, name, flags, 0, 0, 0, 0, 0, mode)
            : OpenAtInRegisters(directory, name, flags, mode);

    public static int Control(SafeFileHandle handle, int command, void* argument) =>
        Platform.VariadicOnStack
            ? ControlOnStack(handle, command, 0, 0, 0, 0, 0, 0, (nint)argument)
            : ControlInRegisters(handle, command, argument);

    public static int Control(SafeFileHandle handle, int command, int argument) =>
        Platform.VariadicOnStack
            ? ControlOnStack(handle, command, 0, 0, 0, 0, 0, 0, argument)
            : ControlInRegisters(handle, command, argument);

    [LibraryImport(Library, EntryPoint = "pread", SetLastError = true)]
    public static partial nint Read(SafeFileHandle handle, byte* buffer, nuint length, long offset);

    [LibraryImport(Library, EntryPoint = "pwrite", SetLastError = true)]
    public static partial nint Write(SafeFileHandle handle, byte* buffer, nuint length, long offset);

    /// <summary>Writes several blocks. <see cref="IoBlock"/> has the layout of the system's iovec: an address, then a length.</summary>
    [LibraryImport(Library, EntryPoint = "pwritev", SetLastError = true)]
    public static partial nint WriteVectored(SafeFileHandle handle, IoBlock* blocks, int count, long offset);

    [LibraryImport(Library, EntryPoint = "fsync", SetLastError = true)]
    public static partial int Sync(SafeFileHandle handle);

    [LibraryImport(Library, EntryPoint = "fdatasync", SetLastError = true)]
    public static partial int SyncData(SafeFileHandle handle);

    /// <summary>Linux.</summary>
    [LibraryImport(Library, EntryPoint = "sync_file_range", SetLastError = true)]
    public static partial int SyncRange(SafeFileHandle handle, long offset, long length, uint flags);

    [LibraryImport(Library, EntryPoint = "ftruncate", SetLastError = true)]
    public static partial int Truncate(SafeFileHandle handle, long length);

    [LibraryImport(Library, EntryPoint = "fallocate", SetLastError = true)]
    public static partial int Allocate(SafeFileHandle handle, int mode, long offset, long length);

    [LibraryImport(Library, EntryPoint = "lseek", SetLastError = true)]
    public static partial long Seek(SafeFileHandle handle, long offset, int from);

    [LibraryImport(Library, EntryPoint = "flock", SetLastError = true)]
    public static partial int Lock(SafeFileHandle handle, int operation);

    /// <summary>Linux.</summary>
    [LibraryImport(Library, EntryPoint = "renameat2", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int RenameExtended(
        SafeFileHandle sourceDirectory, string source, SafeFileHandle targetDirectory, string target, uint flags);

    /// <summary>macOS.</summary>
    [LibraryImport(Library, EntryPoint = "renameatx_np", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int RenameExtendedMac(
        SafeFileHandle sourceDirectory, string source, SafeFileHandle targetDirectory, string target, uint flags);

    [LibraryImport(Library, EntryPoint = "renameat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int RenameAt(SafeFileHandle sourceDirectory, string source, SafeFileHandle targetDirectory, string target);

    /// <summary>Linux.</summary>
    [LibraryImport(Library, EntryPoint = "linkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int LinkAt(int sourceDirectory, string source, SafeFileHandle targetDirectory, string target, int flags);

    [LibraryImport(Library, EntryPoint = "unlinkat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int UnlinkAt(SafeFileHandle directory, string name, int flags);

    /// <summary>Linux.</summary>
    [LibraryImport(Library, EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int InspectExtended(SafeFileHandle directory, string name, int flags, uint mask, byte* info);

    /// <summary>macOS.</summary>
    public static int Inspect(SafeFileHandle handle, byte* info) => Platform.IsArm ? InspectArm(handle, info) : InspectIntel(handle, info);

    /// <summary>macOS.</summary>
    public static int InspectAt(SafeFileHandle directory, string name, byte* info, int flags) =>
        Platform.IsArm ? InspectAtArm(directory, name, info, flags) : InspectAtIntel(directory, name, info, flags);

    /// <summary>Linux; the argument is a pointer to a long.</summary>
    [LibraryImport(Library, EntryPoint = "ioctl", SetLastError = true)]
    public static partial int DeviceControl(SafeFileHandle handle, nuint request, void* argument);

    [LibraryImport(Library, EntryPoint = "realpath", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial byte* RealPath(string path, byte* resolved);

    [LibraryImport(Library, EntryPoint = "statfs", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int FileSystem(string path, byte* description);

    [LibraryImport(Library, EntryPoint = "fstatfs", SetLastError = true)]
    public static partial int FileSystem(SafeFileHandle handle, byte* description);

    [LibraryImport(Library, EntryPoint = "mmap", SetLastError = true)]
    public static partial nint Map(byte* address, nuint length, int protection, int flags, SafeFileHandle handle, long offset);

    [LibraryImport(Library, EntryPoint = "mmap", SetLastError = true)]
    public static partial nint MapAnonymous(byte* address, nuint length, int protection, int flags, int descriptor, long offset);

    [LibraryImport(Library, EntryPoint = "munmap", SetLastError = true)]
    public static partial int Unmap(byte* address, nuint length);

    [LibraryImport(Library, EntryPoint = "mprotect", SetLastError = true)]
    public static partial int Protect(byte* address, nuint length, int protection);

    [LibraryImport(Library, EntryPoint = "posix_fadvise")]
    public static partial int AdviseFile(SafeFileHandle handle, long offset, long length, int advice);

    [LibraryImport(Library, EntryPoint = "madvise")]
    public static partial int Advise(byte* address, nuint length, int advice);

    [LibraryImport(Library, EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenInRegisters(string path, int flags, int mode);

    [LibraryImport(Library, EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenOnStack(string path, nint flags, nint r2, nint r3, nint r4, nint r5, nint r6, nint r7, nint mode);

    [LibraryImport(Library, EntryPoint = "openat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenAtInRegisters(SafeFileHandle directory, string name, int flags, int mode);

    [LibraryImport(Library, EntryPoint = "openat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenAtOnStack(
        SafeFileHandle directory, string name, nint flags, nint r3, nint r4, nint r5, nint r6, nint r7, nint mode);

    [LibraryImport(Library, EntryPoint = "fstat", SetLastError = true)]
    private static partial int InspectArm(SafeFileHandle handle, byte* info);

    [LibraryImport(Library, EntryPoint = "fstat$INODE64", SetLastError = true)]
    private static partial int InspectIntel(SafeFileHandle handle, byte* info);

    [LibraryImport(Library, EntryPoint = "fstatat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int InspectAtArm(SafeFileHandle directory, string name, byte* info, int flags);

    [LibraryImport(Library, EntryPoint = "fstatat$INODE64", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int InspectAtIntel(SafeFileHandle directory, string name, byte* info, int flags);

    [LibraryImport(Library, EntryPoint = "fcntl", SetLastError = true)]
    private static partial int ControlInRegisters(SafeFileHandle handle, int command, void* argument);

    [LibraryImport(Library, EntryPoint = "fcntl", SetLastError = true)]
    private static partial int ControlInRegisters(SafeFileHandle handle, int command, int argument);

    [LibraryImport(Library, EntryPoint = "fcntl", SetLastError = true)]
    private static partial int ControlOnStack(
        SafeFileHandle handle, nint command, nint r2, nint r3, nint r4, nint r5, nint r6, nint r7, nint argument);
}
