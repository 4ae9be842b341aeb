using System.Text.Unicode;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// Reports the progress of a measuring process to the process that started it, as an occasional line on standard error. It allocates
/// nothing, and the other process draws the progress bar, so that the figures are not affected.
/// </summary>
internal sealed class ProgressSignal
{
    private const string Prefix = "@progress ";
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(200);

    private readonly Stream? _output;
    private readonly byte[] _line = new byte[64];
    private long _lastTimestamp;

    /// <param name="output">Receives the lines. Null for none.</param>
    public ProgressSignal(Stream? output) => _output = output;

    public void Report(long done, long total)
    {
        if (_output is null)
            return;
        var now = Stopwatch.GetTimestamp();
        if (Stopwatch.GetElapsedTime(_lastTimestamp, now) < Interval)
            return;
        _lastTimestamp = now;
        Utf8.TryWrite(_line, CultureInfo.InvariantCulture, $"{Prefix}{done} {total}\n", out var length);
        _output.Write(_line, 0, length);
    }

    /// <summary>Parses such a line.</summary>
    public static bool TryParse(string line, out double fractionDone)
    {
        fractionDone = 0;
        if (!line.StartsWith(Prefix, StringComparison.Ordinal) || line[Prefix.Length..].Split(' ') is not [var first, var second]
            || !long.TryParse(first, CultureInfo.InvariantCulture, out var done)
            || !long.TryParse(second, CultureInfo.InvariantCulture, out var total))
        {
            return false;
        }

        fractionDone = total == 0 ? 1 : (double)done / total;
        return true;
    }
}
