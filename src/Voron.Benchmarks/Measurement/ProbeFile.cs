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

/// <summary>A file that a probe of the device writes, deleted at the end.</summary>
/// <param name="directory">A directory on the device.</param>
/// <param name="name">The name of the probe.</param>
/// <param name="bytes">The length of the file, unless it is fresh.</param>
internal sealed class ProbeFile(string directory, string name, long bytes) : IDisposable
{
    public const int Alignment = 4096;
    public const int LargestWriteBytes = 1 << 20;

    private const FileOptions WindowsNoBuffering = (FileOptions)0x20000000;

    public string Path { get; } = System.IO.Path.Combine(directory, $"{name}-{Environment.ProcessId}.probe");

    /// <summary>Returns null where the file system has no writes that are unbuffered and durable.</summary>
    public static T? Try<T>(Func<T> probe)
        where T : class
    {
        try
        {
            return probe();
        }
        catch (Exception error) when (error is BenchmarkException or IOException)
        {
            return null;
        }
    }

    /// <summary>Makes the file fresh, preallocated or zeroed.</summary>
    public ProbeFile Create(FileState state = FileState.Zeroed)
    {
        using var handle = File.OpenHandle(Path, FileMode.Create, FileAccess.ReadWrite, preallocationSize: state == FileState.Fresh ? 0 : bytes);
        if (state is FileState.Fresh or FileState.Preallocated)
            return this;
        var zeros = new byte[LargestWriteBytes];
        for (long offset = 0; offset < bytes; offset += LargestWriteBytes)
            RandomAccess.Write(handle, zeros, offset);
        RandomAccess.FlushToDisk(handle);
        return this;
    }

    /// <summary>Opens the file for writes that bypass the page cache and return when they are durable.</summary>
    /// <exception cref="BenchmarkException">The file system or the operating system has no such writes.</exception>
    public SafeFileHandle OpenUnbuffered()
    {
        if (OperatingSystem.IsWindows())
            return File.OpenHandle(Path, FileMode.Open, FileAccess.ReadWrite, options: FileOptions.WriteThrough | WindowsNoBuffering);
        if (!OperatingSystem.IsLinux())
            throw new BenchmarkException("The bare device can be probed on Linux and Windows only.");
        var descriptor = LinuxCalls.OpenUnbuffered(Path);
        if (descriptor < 0)
        {
            var reason = Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError());
            throw new BenchmarkException($"Cannot open {Path} for unbuffered write-through writes: {reason}. Choose another --directory.");
        }
        return new SafeFileHandle(descriptor, ownsHandle: true);
    }

    public void Dispose() => File.Delete(Path);
}

/// <summary>Aligned memory full of noise, because some devices treat zeros as a special case.</summary>
internal sealed unsafe class NoiseBlock : IDisposable
{
    private readonly byte* _memory;
    private readonly int _bytes;

    public NoiseBlock(int bytes)
    {
        _memory = (byte*)NativeMemory.AlignedAlloc((nuint)bytes, ProbeFile.Alignment);
        _bytes = bytes;
        Random.Shared.NextBytes(new Span<byte>(_memory, bytes));
    }

    public ReadOnlySpan<byte> First(int bytes) => new ReadOnlySpan<byte>(_memory, _bytes)[..bytes];

    public void Dispose() => NativeMemory.AlignedFree(_memory);
}
