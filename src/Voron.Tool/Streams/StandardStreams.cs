using Microsoft.Win32.SafeHandles;

namespace Voron.Tool.Streams;

/// <summary>Standard input and output as bytes.</summary>
internal static class StandardStreams
{
    private const int OutputDescriptor = 1;

    /// <summary>Standard input, whose reads can be cancelled.</summary>
    public static Stream OpenInput() => new CancellableInput(Console.OpenStandardInput());

    /// <summary>Standard output. A write fails when the other end of a pipe is closed, where that of the console passes for done.</summary>
    public static Stream OpenOutput() => OperatingSystem.IsWindows()
        ? Console.OpenStandardOutput()
        : new FileStream(new SafeFileHandle(OutputDescriptor, ownsHandle: false), FileAccess.Write, bufferSize: 0);
}
