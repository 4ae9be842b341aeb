using System.Buffers;
using System.Diagnostics;
using System.Numerics;

namespace Voron.Tables;

/// <summary>Buffers in which a row is assembled: one for its fixed part, and one for its variable part, preceded by space for the rest.</summary>
/// <remarks>
/// <code>
///   Begin ──▶ TakeFixed, TakeVariable + EndField, AddNull, BeginField + writes + EndField ──▶ Finish
/// </code>
/// The space before the variable part is as large as earlier rows needed it, so a long body is written once and not moved. The buffers come from the
/// shared pool and are reused for each row: writing a row allocates nothing once they are large enough.
/// </remarks>
internal sealed class RowBuffer : IBufferWriter<byte>, IDisposable
{
    private const int MinRoom = 64;
    private const int MinSpan = 256;

    private readonly int[] _ends = new int[RowLayout.MaxFields];
    private byte[] _fixed = [];
    private byte[] _bytes = [];
    private int _definitionVersion;
    private int _fixedLength;
    private int _room = MinRoom;
    private int _variableLength;
    private int _fieldStart;
    private int _fields;
    private bool _isOpen;

    /// <summary>The time from which the row is expired, in milliseconds since 1970; null for never.</summary>
    public long? Expiry { get; set; }

    /// <summary>Begins a row, and discards the previous one.</summary>
    /// <param name="definitionVersion">The version of the definition.</param>
    /// <param name="expiry">The time from which the row is expired, in milliseconds since 1970; null for never.</param>
    public void Begin(int definitionVersion, long? expiry = null)
    {
        Debug.Assert(definitionVersion is >= 0 and <= RowLayout.MaxDefinitionVersion, "The version of a definition must fit into two bytes.");
        _definitionVersion = definitionVersion;
        Expiry = expiry;
        _fixedLength = _variableLength = _fields = 0;
        _isOpen = false;
    }

    /// <summary>Ends the row, and returns it: a part of the buffer, valid until the next row begins.</summary>
    /// <exception cref="InvalidOperationException">A variable field was begun, but not ended, or the row is too long.</exception>
    public Span<byte> Finish(long version)
    {
        CheckClosed();
        var fixedStart = RowLayout.FixedStart(Expiry.HasValue, _fields, _variableLength);
        var head = Sum(fixedStart, _fixedLength);
        if (head > _room || _bytes.Length == 0)
            Resize(Math.Max(_room, (int)Math.Min(BitOperations.RoundUpToPowerOf2((uint)head), (uint)Array.MaxLength)), _variableLength);
        var row = _bytes.AsSpan(_room - head, Sum(head, _variableLength));
        RowLayout.WriteHead(row, _definitionVersion, version, Expiry, _ends.AsSpan(0, _fields), _variableLength);
        _fixed.AsSpan(0, _fixedLength).CopyTo(row[fixedStart..]);
        return row;
    }

    /// <summary>Adds a number of bytes to the fixed part, which the caller fills.</summary>
    public Span<byte> TakeFixed(int length)
    {
        var start = _fixedLength;
        _fixedLength = Sum(start, length);
        if (_fixedLength > _fixed.Length)
            Grow(ref _fixed, start, _fixedLength);
        return _fixed.AsSpan(start, length);
    }

    /// <summary>Adds a variable field that is null.</summary>
    /// <exception cref="InvalidOperationException">A variable field was begun, but not ended, or the row has the maximum number of them.</exception>
    public void AddNull()
    {
        BeginField();
        _isOpen = false;
        _ends[_fields++] = ~_variableLength;
    }

    /// <summary>Begins a variable field, which consists of everything that is written until <see cref="EndField"/>.</summary>
    /// <exception cref="InvalidOperationException">A variable field was begun, but not ended, or the row has the maximum number of them.</exception>
    public void BeginField()
    {
        CheckClosed();
        if (_fields == RowLayout.MaxFields)
            throw new InvalidOperationException($"A row has at most {RowLayout.MaxFields} variable fields.");
        _fieldStart = _variableLength;
        _isOpen = true;
    }

    /// <summary>Ends the variable field.</summary>
    /// <exception cref="InvalidOperationException">None was begun.</exception>
    public void EndField()
    {
        CheckOpen();
        _isOpen = false;
        _ends[_fields++] = _variableLength;
    }

    /// <summary>Discards the variable field that was begun.</summary>
    public void DiscardField()
    {
        _variableLength = _fieldStart;
        _isOpen = false;
    }

    public void Advance(int count)
    {
        CheckOpen();
        if (count < 0 || count > _bytes.Length - _room - _variableLength)
            throw new ArgumentOutOfRangeException(nameof(count), count, "The count must be from 0 to the number of bytes that were handed out.");
        _variableLength += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Prepare(sizeHint);
        return _bytes.AsMemory(_room + _variableLength);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Prepare(sizeHint);
        return _bytes.AsSpan(_room + _variableLength);
    }

    /// <summary>Returns the buffers to the pool if they are longer than the maximum.</summary>
    public void Trim(int maxBytes)
    {
        if (_bytes.Length + _fixed.Length > maxBytes)
            Dispose();
    }

    /// <summary>Returns the buffers to the pool. The next row rents others.</summary>
    public void Dispose()
    {
        ArrayPool<byte>.Shared.Return(_fixed);
        ArrayPool<byte>.Shared.Return(_bytes);
        _fixed = _bytes = [];
        _room = MinRoom;
        Begin(0);
    }

    private static void Grow(ref byte[] buffer, int used, int needed)
    {
        var larger = ArrayPool<byte>.Shared.Rent((int)Math.Min(Math.Max(2L * buffer.Length, needed), Array.MaxLength));
        buffer.AsSpan(0, used).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(buffer);
        buffer = larger;
    }

    private static int Sum(int length, int more)
    {
        if (more > Array.MaxLength - length)
            throw new InvalidOperationException($"A row has at most {Array.MaxLength} bytes.");
        return length + more;
    }

    private void Prepare(int sizeHint)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        CheckOpen();
        var needed = Sum(_variableLength, Math.Max(sizeHint, 1));
        if (needed > _bytes.Length - _room)
            Resize(_room, (int)Math.Min(Math.Max(2L * _variableLength, Math.Max(needed, MinSpan)), Array.MaxLength - _room));
    }

    /// <summary>Changes the space before the variable part, or the space for it.</summary>
    private void Resize(int room, int capacity)
    {
        var larger = ArrayPool<byte>.Shared.Rent(Sum(room, capacity));
        _bytes.AsSpan(_bytes.Length == 0 ? 0 : _room, _variableLength).CopyTo(larger.AsSpan(room));
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = larger;
        _room = room;
    }

    private void CheckOpen()
    {
        if (!_isOpen)
            throw new InvalidOperationException($"No variable field is open. {nameof(RowWriter.BeginBytes)} begins one, and only one at a time.");
    }

    private void CheckClosed()
    {
        if (_isOpen)
            throw new InvalidOperationException($"A variable field was begun with {nameof(RowWriter.BeginBytes)}, but not ended with EndBytes.");
    }
}
