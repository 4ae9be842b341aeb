using System.IO.Pipelines;
using Microsoft.Win32.SafeHandles;

namespace Voron.Tool.Streams;

/// <summary>Standard input and output as bytes.</summary>
internal static class StandardStreams
{
    private const int OutputDescriptor = 1;
    private const int SegmentBytes = 64 << 10;
    private const int PauseBytes = 1 << 20;

    private static readonly PipeOptions Options = new(
        pauseWriterThreshold: PauseBytes, resumeWriterThreshold: PauseBytes / 2, minimumSegmentSize: SegmentBytes);

    /// <summary>
    /// Standard input. Its asynchronous reads can be cancelled: they read a pipe, which a task fills that may wait for ever.
    /// </summary>
    public static Stream OpenInput() => ReadAhead(Console.OpenStandardInput);

    /// <summary>Returns a stream whose asynchronous reads can be cancelled, where those of the source cannot, and that disposes the source.</summary>
    public static Stream ReadAhead(Func<Stream> open)
    {
        var pipe = new Pipe(Options);
        _ = Task.Run(() => FillAsync(pipe.Writer, open));
        return pipe.Reader.AsStream();
    }

    /// <summary>Standard output. A write fails when the other end of a pipe is closed, where that of the console passes for done.</summary>
    public static Stream OpenOutput() => OpenPipe() ?? Console.OpenStandardOutput();

    /// <summary>Makes writes of text to the console fail, too, when the other end of a pipe is closed.</summary>
    public static void NoticeClosedPipes()
    {
        if (Console.IsOutputRedirected && OpenPipe() is { } pipe)
            Console.SetOut(new StreamWriter(pipe) { AutoFlush = true });
    }

    // A file stream on a file would not move the place at which the next program continues that writes to the same file.
    private static FileStream? OpenPipe()
    {
        if (OperatingSystem.IsWindows())
            return null;
        var stream = new FileStream(new SafeFileHandle(OutputDescriptor, ownsHandle: false), FileAccess.Write, bufferSize: 0);
        if (!stream.CanSeek)
            return stream;
        stream.Dispose();
        return null;
    }

    // A failure reaches the reader of the pipe. Once that has ended, so does this, with its next read.
    private static async Task FillAsync(PipeWriter pipe, Func<Stream> open)
    {
        Exception? failure = null;
        try
        {
            using var input = open();
            await input.CopyToAsync(pipe).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            failure = e;
        }

        await pipe.CompleteAsync(failure).ConfigureAwait(false);
    }
}
