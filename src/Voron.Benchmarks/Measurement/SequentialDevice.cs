using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>Measures how fast a device reads and writes large files, 1 MiB at a time, past the page cache where there is a way.</summary>
internal static unsafe class SequentialDevice
{
    private const int PieceBytes = 1 << 20;

    /// <summary>Reads a file that is not in the page cache.</summary>
    /// <returns>MB a second.</returns>
    public static double Read(string path)
    {
        var memory = (byte*)NativeMemory.AlignedAlloc(PieceBytes, DeviceFile.Alignment);
        try
        {
            using var file = DeviceFile.OpenUnbuffered(path);
            var length = RandomAccess.GetLength(file);
            var began = Stopwatch.GetTimestamp();
            for (var offset = 0L; offset < length;)
                offset += Math.Max(1, RandomAccess.Read(file, new Span<byte>(memory, PieceBytes), offset));
            return length / Stopwatch.GetElapsedTime(began).TotalSeconds / 1e6;
        }
        finally
        {
            NativeMemory.AlignedFree(memory);
        }
    }

    /// <summary>Writes a new file, syncs it, and deletes it.</summary>
    /// <returns>MB a second.</returns>
    public static double Write(string path, long bytes)
    {
        using var block = new NoiseBlock(PieceBytes);
        try
        {
            DeviceFile.Create(path, FileState.Fresh, bytes);
            var began = Stopwatch.GetTimestamp();
            using (var file = Open(path))
            {
                for (var offset = 0L; offset < bytes; offset += PieceBytes)
                    RandomAccess.Write(file, block.First(PieceBytes), offset);
                RandomAccess.FlushToDisk(file);
            }

            return bytes / Stopwatch.GetElapsedTime(began).TotalSeconds / 1e6;
        }
        finally
        {
            File.Delete(path);
        }
    }

    // Some file systems, such as those in memory, have only buffered writes.
    private static SafeFileHandle Open(string path)
    {
        try
        {
            return DeviceFile.OpenUnbuffered(path);
        }
        catch (BenchmarkException)
        {
            return File.OpenHandle(path, FileMode.Open, FileAccess.Write);
        }
    }
}
