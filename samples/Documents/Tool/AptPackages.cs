using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace Voron.Documents.Tool;

/// <summary>The packages that <c>apt-cache dumpavail</c> lists, as documents.</summary>
internal static class AptPackages
{
    // Numbers, and lists of names.
    private static readonly string[] Numbers = ["Size", "Installed-Size"];
    private static readonly string[] Lists = ["Depends", "Pre-Depends", "Recommends", "Suggests", "Tag"];

    public static ImportSource Of() => new("'apt-cache dumpavail'", null, Read);

    private static IEnumerable<ImportedDocument> Read(Action<long> progress, CancellationToken stop)
    {
        using var process = Start();
        using var ended = stop.Register(process.Kill);
        var fields = new List<(string Name, string Value)>();
        var count = 0;
        while (process.StandardOutput.ReadLine() is { } line)
        {
            if (line.Length == 0)
            {
                if (fields.Count > 0)
                    yield return ToDocument(fields, ++count);
                if (count % 1000 == 0)
                    progress(count);
                fields.Clear();
            }
            else if (line[0] == ' ' && fields.Count > 0)
            {
                fields[^1] = (fields[^1].Name, fields[^1].Value + line);
            }
            else if (line.IndexOf(':') is var colon and > 0)
            {
                fields.Add((line[..colon], line[(colon + 1)..].Trim()));
            }
        }

        // The last package may be cut off if the command has not come to its end.
        process.WaitForExit();
        stop.ThrowIfCancellationRequested();
        ThrowIfFailed(process, count);
        if (fields.Count > 0)
            yield return ToDocument(fields, ++count);
    }

    private static void ThrowIfFailed(Process process, int count)
    {
        // Ctrl+C goes to both processes, and may come to this one later.
        if (process.ExitCode == Interruption.ExitCode)
            throw new OperationCanceledException("'apt-cache dumpavail' was interrupted.");
        if (process.ExitCode != 0)
            throw new ImportException($"'apt-cache dumpavail' has ended with {process.ExitCode}, after {count} packages: {process.StandardError.ReadToEnd().Trim()}");
    }

    private static Process Start()
    {
        try
        {
            return Process.Start(new ProcessStartInfo("apt-cache", "dumpavail") { RedirectStandardOutput = true, RedirectStandardError = true })!;
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            throw new ImportException("'apt-cache' cannot be run here: it comes with Debian and its relatives. Use --json or --csv.", e);
        }
    }

    private static ImportedDocument ToDocument(List<(string Name, string Value)> fields, int number)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes, Json.Readable))
        {
            json.WriteStartObject();
            foreach (var (name, value) in fields)
                Write(json, name, value);
            json.WriteEndObject();
        }

        var id = fields.Find(static field => field.Name == "Package").Value;
        return new ImportedDocument($"package {number}", id, bytes.ToArray());
    }

    private static void Write(Utf8JsonWriter json, string name, string value)
    {
        var property = name.ToLowerInvariant();
        if (Numbers.Contains(name) && long.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var number))
        {
            json.WriteNumber(property, number);
        }
        else if (Lists.Contains(name))
        {
            // Of "libc6 (>= 2.34), a | b", the names.
            json.WriteStartArray(property);
            foreach (var part in value.Split([',', '|'], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
                json.WriteStringValue(part.Split(' ', 2)[0]);
            json.WriteEndArray();
        }
        else
        {
            json.WriteString(property, value);
        }
    }
}
