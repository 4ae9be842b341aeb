using System.Text;

namespace Voron.Documents.Tool;

/// <summary>Files with a JSON object in each line.</summary>
internal static class JsonLines
{
    public static ImportSource Of(string file)
    {
        var isInput = file == "-";
        return new ImportSource(isInput ? "the standard input" : $"'{file}'", isInput ? null : new FileInfo(file).Length, progress => Read(file, progress));
    }

    private static IEnumerable<ImportedDocument> Read(string file, Action<long> progress)
    {
        using var reader = file == "-" ? new StreamReader(Console.OpenStandardInput(), Encoding.UTF8) : new StreamReader(file, Encoding.UTF8);
        var number = 0L;
        while (reader.ReadLine() is { } line)
        {
            number++;
            if (string.IsNullOrWhiteSpace(line))
                continue;
            yield return new ImportedDocument($"line {number}", null, Encoding.UTF8.GetBytes(line));
            if (number % 1000 == 0 && reader.BaseStream.CanSeek)
                progress(reader.BaseStream.Position);
        }
    }
}
