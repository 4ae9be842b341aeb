using System.Globalization;

namespace Voron.Benchmarks.Measurement;

/// <summary>The bytes that this process has written.</summary>
internal static class ProcessWrites
{
    private const string Field = "wchar: ";

    // Not "write_bytes": the kernel counts large parts of the page cache there, of which less is written.
    public static double Bytes()
    {
        var line = File.ReadLines("/proc/self/io").First(line => line.StartsWith(Field, StringComparison.Ordinal));
        return long.Parse(line.AsSpan(Field.Length), CultureInfo.InvariantCulture);
    }
}
