using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>The state of a file before a probe writes to it.</summary>
internal enum FileState
{
    /// <summary>Empty, so that every write extends it.</summary>
    Fresh,

    /// <summary>At its full length, but with blocks that were never written.</summary>
    Preallocated,

    /// <summary>Written with zeros and synced.</summary>
    Zeroed,

    /// <summary>As the probes of the other states left it: written with noise by durable unbuffered writes.</summary>
    Recycled,
}

/// <summary>Prepares and opens the files that the probes of the device write.</summary>
internal static class DeviceFile
{
    public const int Alignment = 4096;

    private const int ChunkBytes = 1 << 20;
    private const FileOptions WindowsNoBuffering = (FileOptions)0x20000000;

    /// <summary>Creates a file that is fresh, preallocated or zeroed, replacing one of that name.</summary>
    public static void Create(string path, FileState state, long fileBytes)
    {
        using var handle = File.OpenHandle(
            path, FileMode.Create, FileAccess.ReadWrite, preallocationSize: state == FileState.Fresh ? 0 : fileBytes);
        if (state is FileState.Fresh or FileState.Preallocated)
            return;
        var zeros = new byte[ChunkBytes];
        for (long offset = 0; offset < fileBytes; offset += ChunkBytes)
            RandomAccess.Write(handle, zeros, offset);
        RandomAccess.FlushToDisk(handle);
    }

    /// <summary>Opens an existing file for writes that bypass the page cache and return when they are durable.</summary>
    /// <exception cref="BenchmarkException">The file system or the operating system has no such writes.</exception>
    public static SafeFileHandle OpenUnbuffered(string path)
    {
        if (OperatingSystem.IsWindows())
            return File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, options: FileOptions.WriteThrough | WindowsNoBuffering);
        if (!OperatingSystem.IsLinux())
            throw new BenchmarkException("The bare device can be probed on Linux and Windows only.");
        var descriptor = LinuxCalls.OpenUnbuffered(path);
        if (descriptor < 0)
        {
            var reason = Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError());
            throw new BenchmarkException($"Cannot open {path} for unbuffered write-through writes: {reason}. Choose another --directory.");
        }
        return new SafeFileHandle(descriptor, ownsHandle: true);
    }
}

/// <summary>Aligned memory full of noise, because some devices treat zeros as a special case.</summary>
internal sealed unsafe class NoiseBlock : IDisposable
{
    private readonly byte* _memory;
    private readonly int _bytes;

    public NoiseBlock(int bytes)
    {
        _memory = (byte*)NativeMemory.AlignedAlloc((nuint)bytes, DeviceFile.Alignment);
        _bytes = bytes;
        Random.Shared.NextBytes(new Span<byte>(_memory, bytes));
    }

    public ReadOnlySpan<byte> First(int bytes) => new ReadOnlySpan<byte>(_memory, _bytes)[..bytes];

    public void Dispose() => NativeMemory.AlignedFree(_memory);
}
