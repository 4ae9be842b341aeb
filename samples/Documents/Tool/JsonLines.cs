using Voron.Documents.Web;

namespace Voron.Documents.Tool;

/// <summary>Files with a JSON object in each line.</summary>
internal static class JsonLines
{
    public static ImportSource Of(string file) => file == "-"
        ? new ImportSource("the standard input", null, static (progress, stop) => Read(Console.OpenStandardInput(), progress, stop))
        : new ImportSource($"'{file}'", ImportSource.LengthOf(file), (progress, stop) => Read(File.OpenRead(file), progress, stop));

    /// <param name="source">The lines, in UTF-8. The documents have their bytes.</param>
    /// <param name="progress">Receives the number of bytes that have been read.</param>
    /// <param name="stop">Cancels a read that waits.</param>
    /// <param name="maxBytes">The length of a line at most.</param>
    internal static IEnumerable<ImportedDocument> Read(
        Stream source, Action<long> progress, CancellationToken stop, int maxBytes = ImportSource.MaxDocumentBytes)
    {
        using (source)
        {
            var lines = new LineReader(source, maxBytes);
            while (Next(lines, stop) is { } line)
            {
                if (line.IsBlank)
                    continue;
                yield return new ImportedDocument($"line {line.Number}", null, line.Bytes, line.FaultOf(maxBytes));
                if (line.Number % 1000 == 0)
                    progress(source.CanSeek ? source.Position : 0);
            }
        }
    }

    // A read of a terminal or a pipe ends with a line, or with the process: a cancellation leaves it on its thread.
    private static Line? Next(LineReader lines, CancellationToken stop)
    {
        var read = lines.ReadAsync(stop);
        return read.IsCompletedSuccessfully ? read.Result : read.AsTask().WaitAsync(stop).GetAwaiter().GetResult();
    }
}
