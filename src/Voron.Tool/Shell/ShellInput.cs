using System.Text;

namespace Voron.Tool.Shell;

/// <summary>Reads the lines of the shell. A wait for the next one can be cancelled, if the reads of the stream can.</summary>
internal sealed class ShellInput(Stream stream)
{
    /// <summary>The most bytes of a line; a value as long as that belongs into a file.</summary>
    public const int MaxLineBytes = 1 << 20;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private readonly byte[] _buffer = new byte[MaxLineBytes + 1];
    private int _start;
    private int _end;
    private bool _hasEnded;

    /// <summary>The number of the last line, from 1 on.</summary>
    public long Number { get; private set; }

    /// <summary>Returns the next line without its end; null behind the last one.</summary>
    /// <exception cref="ToolException">The line is too long, or no text in UTF-8. The next call returns the line behind it.</exception>
    /// <exception cref="IOException">The input cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    public async ValueTask<string?> ReadAsync(CancellationToken stop)
    {
        var isTooLong = false;
        for (var searched = 0; ;)
        {
            var found = _buffer.AsSpan(_start + searched, _end - _start - searched).IndexOf((byte)'\n');
            if (found >= 0 || (_hasEnded && _end > _start))
                return Take(found >= 0 ? searched + found : _end - _start, isTooLong);
            if (_hasEnded)
                return isTooLong ? Take(0, isTooLong) : null;
            searched = _end - _start;
            if (searched > MaxLineBytes)
            {
                (isTooLong, searched) = (true, 0);
                _start = _end;
            }

            await FillAsync(stop).ConfigureAwait(false);
        }
    }

    private async ValueTask FillAsync(CancellationToken stop)
    {
        _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
        (_start, _end) = (0, _end - _start);
        var read = await stream.ReadAsync(_buffer.AsMemory(_end), stop).ConfigureAwait(false);
        _end += read;
        _hasEnded = read == 0;
    }

    private string Take(int length, bool isTooLong)
    {
        Number++;
        var line = _buffer.AsSpan(_start, length);
        _start = Math.Min(_end, _start + length + 1);
        if (isTooLong || length > MaxLineBytes)
            throw new ToolException(ExitCode.Usage, $"Line {Number} has more than {MaxLineBytes} bytes.");
        try
        {
            // Some programs begin a pipe with the mark of UTF-8.
            var text = Strict.GetString(line).TrimEnd('\r');
            return Number == 1 ? text.TrimStart('\uFEFF') : text;
        }
        catch (DecoderFallbackException)
        {
            throw new ToolException(ExitCode.Usage, $"Line {Number} is no text in UTF-8. \\xHH stands for any byte.");
        }
    }
}
