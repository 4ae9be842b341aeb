namespace Voron.Tool.Dumps;

/// <summary>Reads lines of bytes.</summary>
/// <param name="stream">The bytes.</param>
/// <param name="name">The name of the dump, for messages, such as "the dump 'file'".</param>
internal sealed class LineReader(Stream stream, string name)
{
    /// <summary>The longest line in bytes.</summary>
    public static readonly int MaxLineBytes = Array.MaxLength;

    private byte[] _buffer = new byte[1 << 20];
    private int _start;
    private int _end;

    /// <summary>The number of the last line, from 1 on.</summary>
    public long Number { get; private set; }

    /// <summary>Reads the next line, without its end. It is valid until the next call.</summary>
    /// <exception cref="ToolException">The line is too long.</exception>
    public bool TryRead(out ReadOnlyMemory<byte> line)
    {
        var searched = 0;
        while (true)
        {
            var found = _buffer.AsSpan(_start + searched, _end - _start - searched).IndexOf((byte)'\n');
            if (found >= 0)
            {
                line = Take(searched + found, 1);
                return true;
            }

            searched = _end - _start;
            if (Fill())
                continue;
            line = searched > 0 ? Take(searched, 0) : default;
            return searched > 0;
        }
    }

    /// <summary>Returns the failure of a dump whose last line is wrong.</summary>
    public ToolException Bad(string fault) => Bad(name, Number, fault);

    /// <summary>Returns the failure of a dump with this name, for a fault in a line.</summary>
    public static ToolException Bad(string name, long line, string fault) => new(ExitCode.Damaged, $"Line {line} of {name}: {fault}. Nothing was loaded.");

    private ReadOnlyMemory<byte> Take(int length, int ends)
    {
        Number++;
        var line = _buffer.AsMemory(_start, length);
        _start += length + ends;
        return line.Length > 0 && line.Span[^1] == '\r' ? line[..^1] : line;
    }

    private bool Fill()
    {
        if (_start > 0)
        {
            _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
            _end -= _start;
            _start = 0;
        }

        if (_end == _buffer.Length)
        {
            if (_buffer.Length >= MaxLineBytes)
                throw new ToolException(ExitCode.Damaged, $"Line {Number + 1} of {name} has more than {MaxLineBytes} bytes.");
            Array.Resize(ref _buffer, (int)Math.Min(2L * _buffer.Length, MaxLineBytes));
        }

        var read = stream.Read(_buffer, _end, _buffer.Length - _end);
        _end += read;
        return read > 0;
    }
}
