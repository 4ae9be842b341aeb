using System.Buffers;
using System.Text;
using System.Text.Unicode;

namespace Voron.Documents.Tool;

/// <summary>
/// Reads characters of UTF-8. Where the bytes are not valid, it first returns all characters before them, so that its reader knows in which row
/// they are, and then throws.
/// </summary>
/// <param name="source">The bytes. The mark of the byte order at their start is skipped.</param>
internal sealed class Utf8TextReader(Stream source) : TextReader
{
    private readonly byte[] _bytes = new byte[64 << 10];
    private int _start;
    private int _end;
    private long _before;
    private bool _isLast;

    // The second half of a character whose first half was the last that the buffer had room for.
    private char? _half;

    private static ReadOnlySpan<byte> ByteOrderMark => [0xEF, 0xBB, 0xBF];

    /// <exception cref="InvalidDataException">The next bytes are not valid.</exception>
    public override int Read(Span<char> buffer)
    {
        if (buffer.IsEmpty)
            return 0;
        if (_half is { } half)
        {
            buffer[0] = half;
            _half = null;
            return 1;
        }

        while (true)
        {
            var status = Utf8.ToUtf16(_bytes.AsSpan(_start, _end - _start), buffer, out var read, out var written, replaceInvalidSequences: false, _isLast);
            _start += read;
            if (written > 0 || (_isLast && _start == _end))
                return written;
            if (status == OperationStatus.InvalidData)
                throw new InvalidDataException($"Byte {_before + _start + 1} of the file is not valid UTF-8.");
            if (status == OperationStatus.DestinationTooSmall)
                return ReadHalf(out buffer[0]);
            Fill();
        }
    }

    public override int Read(char[] buffer, int index, int count) => Read(buffer.AsSpan(index, count));

    public override int Read()
    {
        Span<char> character = stackalloc char[1];
        return Read(character) == 0 ? -1 : character[0];
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            source.Dispose();
        base.Dispose(disposing);
    }

    private int ReadHalf(out char first)
    {
        Span<char> halves = stackalloc char[2];
        Rune.DecodeFromUtf8(_bytes.AsSpan(_start, _end - _start), out var character, out var length);
        character.EncodeToUtf16(halves);
        _start += length;
        (first, _half) = (halves[0], halves[1]);
        return 1;
    }

    private void Fill()
    {
        var isFirst = _before == 0 && _end == 0;
        _before += _start;
        _bytes.AsSpan(_start, _end - _start).CopyTo(_bytes);
        (_start, _end) = (0, _end - _start);
        var count = source.ReadAtLeast(_bytes.AsSpan(_end), ByteOrderMark.Length, throwOnEndOfStream: false);
        _isLast = count == 0;
        _end += count;
        if (isFirst && _bytes.AsSpan(0, _end).StartsWith(ByteOrderMark))
            _start = ByteOrderMark.Length;
    }
}
