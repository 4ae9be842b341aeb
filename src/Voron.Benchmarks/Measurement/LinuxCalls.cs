using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>The few system calls of Linux that .NET does not offer. Guard with <see cref="OperatingSystem.IsLinux"/>.</summary>
internal static unsafe partial class LinuxCalls
{
    private const int AtCurrentDirectory = -100;
    private const uint BasicStats = 0x7ff;

    private const int OpenReadWrite = 0x2;
    private const int OpenDataSync = 0x1000;
    private const int OpenCloseOnExec = 0x80000;

    /// <summary>The size and device of a path, from statx, whose layout is the same on every processor.</summary>
    internal readonly record struct Status(long AllocatedBytes, uint DeviceMajor, uint DeviceMinor, uint NodeMajor, uint NodeMinor);

    internal static Status? TryGetStatus(string path)
    {
        StatxBuffer buffer = default;
        if (Statx(AtCurrentDirectory, path, 0, BasicStats, &buffer) != 0)
            return null;
        return new Status((long)buffer.Blocks * 512, buffer.DeviceMajor, buffer.DeviceMinor, buffer.NodeMajor, buffer.NodeMinor);
    }

    /// <summary>Opens an existing file for writes that bypass the page cache and return when they are on stable storage.</summary>
    /// <returns>A file descriptor, or -1 with the error number in <see cref="Marshal.GetLastPInvokeError"/>.</returns>
    internal static int OpenUnbuffered(string path)
    {
        var isArm = RuntimeInformation.ProcessArchitecture is Architecture.Arm or Architecture.Arm64;
        var openDirect = isArm ? 0x10000 : 0x4000;
        return Open(path, OpenReadWrite | OpenDataSync | OpenCloseOnExec | openDirect, 0);
    }

    /// <summary>Syncs a file's data without its times. On other systems than Linux, syncs everything.</summary>
    internal static void SyncData(SafeFileHandle file)
    {
        if (!OperatingSystem.IsLinux())
            RandomAccess.FlushToDisk(file);
        else if (SyncData((int)file.DangerousGetHandle()) != 0)
            throw new IOException($"fdatasync: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}");
    }

    /// <summary>Syncs all file systems. Does nothing on other systems than Linux.</summary>
    internal static void SyncAll()
    {
        if (OperatingSystem.IsLinux())
            Sync();
    }

    /// <summary>Writes back the files of a directory and evicts them from the page cache.</summary>
    internal static void ForgetDirectory(string directory)
    {
        const int DontNeed = 4;
        if (!OperatingSystem.IsLinux())
            return;
        foreach (var path in Directory.EnumerateFiles(directory, "*", SearchOption.AllDirectories))
        {
            using var file = File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite);
            SyncData(file);
            _ = Advise((int)file.DangerousGetHandle(), 0, 0, DontNeed);
        }
    }

    [LibraryImport("libc", EntryPoint = "posix_fadvise")] private static partial int Advise(int file, long offset, long bytes, int advice);
    [LibraryImport("libc", EntryPoint = "sync")] private static partial void Sync();
    [LibraryImport("libc", EntryPoint = "fdatasync", SetLastError = true)] private static partial int SyncData(int file);
    [LibraryImport("libc", EntryPoint = "statx", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int Statx(int directory, string path, int flags, uint mask, StatxBuffer* buffer);
    [LibraryImport("libc", EntryPoint = "open", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int Open(string path, int flags, uint mode);

    [StructLayout(LayoutKind.Explicit, Size = 256)]
    private struct StatxBuffer
    {
        /// <summary>In units of 512 bytes, independent of the file system's block size.</summary>
        [FieldOffset(48)] public ulong Blocks;
        [FieldOffset(128)] public uint NodeMajor;
        [FieldOffset(132)] public uint NodeMinor;
        [FieldOffset(136)] public uint DeviceMajor;
        [FieldOffset(140)] public uint DeviceMinor;
    }
}
