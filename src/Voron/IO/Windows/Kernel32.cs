using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>The system calls for which the base library has no suitable method.</summary>
internal static unsafe partial class Kernel32
{
    private const string Library = "kernel32.dll";

    [LibraryImport(Library, EntryPoint = "CreateFileW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    public static partial SafeFileHandle CreateFile(
        string path, uint access, uint share, void* security, uint disposition, uint flags, nint template);

    [LibraryImport(Library, EntryPoint = "GetFileInformationByHandle", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool GetFileInformation(SafeFileHandle file, uint* information);

    [LibraryImport(Library, EntryPoint = "GetFileInformationByHandleEx", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool GetFileInformationExtended(SafeFileHandle file, int kind, uint* information, uint length);

    [LibraryImport(Library, EntryPoint = "LockFileEx", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool LockFile(
        SafeFileHandle file, uint flags, uint reserved, uint lengthLow, uint lengthHigh, WindowsLockRange* range);

    [LibraryImport(Library, EntryPoint = "MoveFileExW", SetLastError = true, StringMarshalling = StringMarshalling.Utf16)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool MoveFile(string source, string target, uint flags);

    [LibraryImport(Library, EntryPoint = "CreateFileMappingW", SetLastError = true)]
    public static partial nint CreateFileMapping(
        SafeFileHandle file, void* attributes, uint protection, uint maximumHigh, uint maximumLow, char* name);

    [LibraryImport(Library, EntryPoint = "MapViewOfFileEx", SetLastError = true)]
    public static partial void* MapViewOfFileAt(nint mapping, uint access, uint offsetHigh, uint offsetLow, nuint length, void* address);

    [LibraryImport(Library, EntryPoint = "UnmapViewOfFile", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool UnmapViewOfFile(void* address);

    [LibraryImport(Library, EntryPoint = "CloseHandle", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool CloseHandle(nint handle);

    [LibraryImport(Library, EntryPoint = "DeviceIoControl", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool DeviceControl(
        SafeFileHandle file, uint code, void* input, uint inputLength, void* output, uint outputLength, uint* returned, nint overlapped);

    [LibraryImport(Library, EntryPoint = "VirtualAlloc", SetLastError = true)]
    public static partial void* VirtualAlloc(void* address, nuint length, uint type, uint protection);

    [LibraryImport(Library, EntryPoint = "VirtualFree", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool VirtualFree(void* address, nuint length, uint type);
}

/// <summary>The OVERLAPPED structure, which holds the start of a locked range.</summary>
[StructLayout(LayoutKind.Explicit, Size = 32)]
internal struct WindowsLockRange
{
    [FieldOffset(16)]
    public uint OffsetLow;

    [FieldOffset(20)]
    public uint OffsetHigh;
}
