using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>The calls for which the base library has nothing that fits.</summary>
internal static unsafe partial class Kernel32
{
    private const string Library = "kernel32.dll";

    [LibraryImport(Library, EntryPoint = "CreateFileMappingW", SetLastError = true)]
    public static partial nint CreateFileMapping(
        SafeFileHandle file, void* attributes, uint protection, uint maximumHigh, uint maximumLow, char* name);

    [LibraryImport(Library, EntryPoint = "MapViewOfFile", SetLastError = true)]
    public static partial void* MapViewOfFile(nint mapping, uint access, uint offsetHigh, uint offsetLow, nuint length);

    [LibraryImport(Library, EntryPoint = "UnmapViewOfFile", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool UnmapViewOfFile(void* address);

    [LibraryImport(Library, EntryPoint = "CloseHandle", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool CloseHandle(nint handle);

    [LibraryImport(Library, EntryPoint = "VirtualAlloc", SetLastError = true)]
    public static partial void* VirtualAlloc(void* address, nuint length, uint type, uint protection);

    [LibraryImport(Library, EntryPoint = "VirtualFree", SetLastError = true)]
    [return: MarshalAs(UnmanagedType.Bool)]
    public static partial bool VirtualFree(void* address, nuint length, uint type);
}
