using System.Buffers.Text;
using System.Diagnostics;
using System.Globalization;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// How a measuring process tells the one that watches it how far it is: a line now and then on standard error, made
/// without allocating, so that the drawing happens elsewhere and leaves the figures alone.
/// </summary>
internal sealed class ProgressSignal
{
    private const string Prefix = "@progress ";
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(200);

    private readonly Stream? _output;
    private readonly byte[] _line = new byte[64];
    private long _lastTimestamp;

    /// <param name="output">Where the lines go, or null for silence.</param>
    public ProgressSignal(Stream? output)
    {
        _output = output;
        Prefix.Select(letter => (byte)letter).ToArray().CopyTo(_line, 0);
    }

    public void Report(long done, long total)
    {
        if (_output is null)
            return;
        long now = Stopwatch.GetTimestamp();
        if (Stopwatch.GetElapsedTime(_lastTimestamp, now) < Interval)
            return;
        _lastTimestamp = now;
        int length = Prefix.Length;
        Utf8Formatter.TryFormat(done, _line.AsSpan(length), out int written);
        length += written;
        _line[length++] = (byte)' ';
        Utf8Formatter.TryFormat(total, _line.AsSpan(length), out written);
        length += written;
        _line[length++] = (byte)'\n';
        _output.Write(_line, 0, length);
    }

    /// <summary>Reads such a line as the fraction done.</summary>
    public static bool TryParse(string line, out double fractionDone)
    {
        fractionDone = 0;
        if (!line.StartsWith(Prefix, StringComparison.Ordinal))
            return false;
        string[] numbers = line[Prefix.Length..].Split(' ');
        if (numbers.Length != 2
            || !long.TryParse(numbers[0], CultureInfo.InvariantCulture, out long done)
            || !long.TryParse(numbers[1], CultureInfo.InvariantCulture, out long total))
        {
            return false;
        }
        fractionDone = total == 0 ? 1 : (double)done / total;
        return true;
    }
}
