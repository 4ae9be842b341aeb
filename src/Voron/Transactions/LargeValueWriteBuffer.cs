using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>
/// Gathers bytes for the data file in aligned memory and writes them past the page cache, adjacent ones together. Another thread writes a full
/// piece while the next one is filled.
/// </summary>
/// <remarks>
/// Used by the holder of the writer. No write outlives its transaction: a later transaction may use the pages for something else. Concurrent
/// writes never overlap, because an operation that could cause pages to be allocated twice within a transaction (a rollback to a savepoint) waits
/// for the bytes added before it.
/// </remarks>
internal sealed unsafe class LargeValueWriteBuffer
{
    /// <summary>The size of a piece: large enough for the device to run at full speed, small enough to start early on a value of 1 MiB.</summary>
    public const int PieceBytes = 256 << 10;

    private const int MaxPieces = 4;

    /// <summary>The number of separate ranges that are written one after the other; other threads write the next ones at the same time.</summary>
    private const int MaxParts = 3;

    private readonly DiskFile _file;
    private readonly List<Piece> _free = [];
    private readonly Queue<Piece> _underWay = new(MaxPieces);
    private Piece? _filling;
    private int _pieces;
    private bool _isUsed;
    private ExceptionDispatchInfo? _failure;

    public LargeValueWriteBuffer(DiskFile file) => _file = file;

    /// <summary>True when bytes have been added that may not have been written yet.</summary>
    public bool HasBytes => _filling != null || _underWay.Count > 0;

    /// <summary>True while there are pieces beyond the first. Any thread may read it.</summary>
    public bool HasSpare => Volatile.Read(ref _pieces) > 1;

    /// <summary>Releases all pieces but one unless they were used since the last call. Only for the writer's holder, between transactions.</summary>
    public void Trim()
    {
        Debug.Assert(!HasBytes, "No write of a value may be under way between transactions.");
        if (!_isUsed && _free.Count > 1)
        {
            _free.RemoveRange(1, _free.Count - 1);
            Volatile.Write(ref _pieces, 1);
        }

        _isUsed = false;
    }

    /// <summary>Adds bytes, at most a piece, to be written at an aligned offset. Zeros follow them up to the next aligned offset.</summary>
    /// <returns>The copy of the bytes, which remains until the next call.</returns>
    public byte* Add(long offset, ReadOnlySpan<byte> bytes)
    {
        var length = (int)DiskRules.RoundUp(bytes.Length, DiskRules.Alignment);
        if (_filling != null && (_filling.Length + length > PieceBytes || _filling.IsScattered(offset)))
        {
            _filling.Offer(toPool: true);
            _underWay.Enqueue(_filling);
            _filling = null;
        }

        _filling ??= Rent();
        var copy = _filling.Add(offset, length);
        bytes.CopyTo(new Span<byte>(copy, bytes.Length));
        new Span<byte>(copy + bytes.Length, length - bytes.Length).Clear();
        return copy;
    }

    /// <summary>Writes the remaining bytes and waits for the writes that are under way. The bytes are durable after a sync.</summary>
    /// <exception cref="StorageFullException">There was not enough space for some bytes, now or earlier in the transaction.</exception>
    /// <exception cref="StorageAccessException">Some bytes could not be written, now or earlier in the transaction.</exception>
    public void Finish()
    {
        Settle();
        if (_failure?.SourceException is DiskException e)
            throw DataFile.WriteFailure("a value", e);
        _failure?.Throw();
    }

    /// <summary>As <see cref="Finish"/>, but leaves a failure to be thrown by the next call of that method.</summary>
    public void Settle()
    {
        if (_filling != null)
        {
            _filling.Offer(toPool: false);
            _filling.Execute();
            _underWay.Enqueue(_filling);
            _filling = null;
        }

        while (_underWay.Count > 0)
            TakeBack();
    }

    /// <summary>Waits for the writes that are under way, and discards the remaining bytes and any failure.</summary>
    public void Discard()
    {
        if (_filling != null)
            _free.Add(_filling);
        _filling = null;
        foreach (var piece in _underWay)
            piece.Cancel();
        while (_underWay.Count > 0)
            TakeBack();
        _failure = null;
    }

    private Piece Rent()
    {
        _isUsed = true;
        if (_free.Count == 0 && _pieces == MaxPieces)
            TakeBack();
        if (_free.Count == 0)
        {
            var added = new Piece(_file);
            _pieces++;
            return added;
        }

        var piece = _free[^1];
        _free.RemoveAt(_free.Count - 1);
        piece.Clear();
        return piece;
    }

    private void TakeBack()
    {
        var piece = _underWay.Dequeue();
        if (piece.End() is { } failure)
            _failure ??= ExceptionDispatchInfo.Capture(failure);
        _free.Add(piece);
    }

    /// <summary>Aligned memory, and the file offsets of its parts.</summary>
    private sealed class Piece : OfferedWork
    {
        private readonly DiskFile _file;
        private readonly byte[] _memory = GC.AllocateUninitializedArray<byte>(PieceBytes + DiskRules.Alignment, pinned: true);
        private readonly byte* _start;
        private readonly List<(long Offset, int Length)> _parts = [];

        public Piece(DiskFile file)
        {
            _file = file;
            var address = (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(_memory));
            _start = (byte*)((address + DiskRules.Alignment - 1) & ~(nuint)(DiskRules.Alignment - 1));
        }

        public int Length { get; private set; }

        /// <summary>True if bytes at that offset would be one range more than a piece should have.</summary>
        public bool IsScattered(long offset) => _parts.Count >= MaxParts && _parts[^1].Offset + _parts[^1].Length != offset;

        public byte* Add(long offset, int length)
        {
            if (_parts.Count > 0 && _parts[^1].Offset + _parts[^1].Length == offset)
                _parts[^1] = (_parts[^1].Offset, _parts[^1].Length + length);
            else
                _parts.Add((offset, length));
            var copy = _start + Length;
            Length += length;
            return copy;
        }

        public void Clear()
        {
            Debug.Assert(!IsOffered, "A piece must have been written, or cancelled, before it is filled again.");
            EngineMemory.Spoil(new Span<byte>(_start, Length));
            _parts.Clear();
            Length = 0;
        }

        protected override void Work()
        {
            var at = _start;
            foreach (var (offset, length) in _parts)
            {
                _file.Write(offset, new ReadOnlySpan<byte>(at, length));
                at += length;
            }
        }
    }
}
