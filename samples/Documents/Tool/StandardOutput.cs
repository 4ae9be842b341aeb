using Microsoft.Win32.SafeHandles;

namespace Voron.Documents.Tool;

/// <summary>The standard output of commands that write without an end.</summary>
internal static class StandardOutput
{
    private const int Descriptor = 1;
    private const int BrokenPipe = 32;

    /// <summary>Opens it. Each line is written at once; one that no process reads any more fails, which the console would hide.</summary>
    public static TextWriter Open() => new StreamWriter(OpenStream()) { AutoFlush = true };

    /// <summary>True if a write has failed because the reader has left.</summary>
    public static bool IsBroken(IOException e) => e.HResult == BrokenPipe;

    // The console shares the position in a file with other processes.
    private static Stream OpenStream()
    {
        if (OperatingSystem.IsWindows() || !Console.IsOutputRedirected)
            return Console.OpenStandardOutput();
        var pipe = new FileStream(new SafeFileHandle(Descriptor, ownsHandle: false), FileAccess.Write, bufferSize: 0);
        return pipe.CanSeek ? Console.OpenStandardOutput() : pipe;
    }
}
