using System.Text.Unicode;

namespace Voron.Documents.Web;

/// <summary>A line of a stream.</summary>
/// <param name="Number">Its number, from 1 on.</param>
/// <param name="Bytes">The bytes without the end of the line; none of one that is too long. They are a copy.</param>
/// <param name="IsTooLong">True if it is longer than it may be.</param>
internal readonly record struct Line(long Number, byte[] Bytes, bool IsTooLong)
{
    /// <summary>True if the line has nothing to read.</summary>
    public bool IsBlank => !IsTooLong && Bytes.AsSpan().IndexOfAnyExcept((byte)' ', (byte)'\t') < 0;

    /// <summary>Says why the line cannot be a document; null if it may be one.</summary>
    /// <param name="maxBytes">The length of a line at most.</param>
    public string? FaultOf(int maxBytes)
    {
        if (IsTooLong)
            return $"The line has more than {maxBytes} bytes.";
        return Utf8.IsValid(Bytes) ? null : "The line is not valid UTF-8.";
    }
}

/// <summary>
/// Reads lines, and skips those that are too long, with a buffer that is no longer than one may be. The mark of the byte order at the start of a file
/// is no part of its first line.
/// </summary>
/// <param name="source">The stream.</param>
/// <param name="maxBytes">The length of a line at most.</param>
internal sealed class LineReader(Stream source, int maxBytes)
{
    private static ReadOnlySpan<byte> ByteOrderMark => [0xEF, 0xBB, 0xBF];

    private byte[] _buffer = new byte[Math.Min(64 << 10, maxBytes + 1)];
    private int _start;
    private int _end;
    private long _number;

    /// <summary>Returns the next line; null at the end.</summary>
    public async ValueTask<Line?> ReadAsync(CancellationToken cancellationToken)
    {
        var isTooLong = false;
        var searched = 0;
        while (true)
        {
            var newLine = _buffer.AsSpan(_start + searched, _end - _start - searched).IndexOf((byte)'\n');
            if (newLine >= 0)
                return Take(searched + newLine, 1, isTooLong);
            if (_end - _start > maxBytes)
            {
                isTooLong = true;
                _start = _end;
            }

            searched = _end - _start;
            MakeRoom();
            var count = await source.ReadAsync(_buffer.AsMemory(_end), cancellationToken);
            if (count == 0)
                return _end > _start || isTooLong ? Take(_end - _start, 0, isTooLong) : null;
            _end += count;
        }
    }

    private void MakeRoom()
    {
        _buffer.AsSpan(_start, _end - _start).CopyTo(_buffer);
        _end -= _start;
        _start = 0;
        if (_end == _buffer.Length)
            Array.Resize(ref _buffer, (int)Math.Min(2L * _buffer.Length, maxBytes + 1L));
    }

    private Line Take(int length, int separator, bool isTooLong)
    {
        isTooLong |= length > maxBytes;
        var bytes = isTooLong ? [] : _buffer.AsSpan(_start, length).TrimEnd((byte)'\r');
        if (++_number == 1 && bytes.StartsWith(ByteOrderMark))
            bytes = bytes[ByteOrderMark.Length..];
        var line = new Line(_number, bytes.ToArray(), isTooLong);
        _start += length + separator;
        return line;
    }
}
