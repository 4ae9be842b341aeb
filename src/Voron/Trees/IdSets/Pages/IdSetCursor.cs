using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;

namespace Voron.Trees.IdSets.Pages;

/// <summary>A position in a set of ids that moves in both directions. Designed for pooling: opening resets the cursor.</summary>
/// <remarks>
/// The ids of a block are unpacked when the cursor reaches it, its payloads when one of them is requested. The pages must not change while
/// the cursor is open.
/// </remarks>
internal sealed unsafe class IdSetCursor
{
    private readonly long[] _ids = GC.AllocateUninitializedArray<long>(IdBlock.MaxIds, pinned: true);
    private readonly byte[] _payloads = GC.AllocateUninitializedArray<byte>(IdBlock.MaxIds, pinned: true);
    private readonly long* _block;
    private readonly byte* _blockPayloads;
    private PageReader? _reader;
    private ArrayLayout _layout;
    private IdSetReference _set;
    private IdSetPath _path;
    private byte* _page;
    private int _index;
    private int _count;
    private int _at;
    private bool _hasPayloads;
    private Place _place;

    // Set when a seek has found the current id and no fill has copied it yet.
    private bool _isPending;

    public IdSetCursor()
    {
        _block = (long*)Unsafe.AsPointer(ref _ids[0]);
        _blockPayloads = (byte*)Unsafe.AsPointer(ref _payloads[0]);
    }

    private enum Place
    {
        Unset,
        BeforeFirst,
        OnId,
        AfterLast,

        /// <summary>A step or a seek has failed half-way.</summary>
        Lost,
    }

    /// <summary>The number of ids in the set.</summary>
    public long Count { get; private set; }

    public bool IsOnId => _place == Place.OnId;

    /// <summary>The id at the cursor.</summary>
    public long Current => _block[_at];

    /// <summary>The payload of <see cref="Current"/>.</summary>
    public byte Payload
    {
        get
        {
            LoadPayloads();
            return _blockPayloads[_at];
        }
    }

    /// <summary>Opens the set of a leaf record. The cursor has no position until the first move or seek.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="behind">The bytes after the key: a sound record.</param>
    /// <param name="length">Their number.</param>
    /// <exception cref="CorruptionException">The ids of the record are damaged.</exception>
    public void Open(PageReader reader, byte* behind, int length)
    {
        Close();
        _reader = reader;
        if (*(ExtendedForm*)behind != ExtendedForm.IdSet)
        {
            Count = _count = InlineIds.Unpack(reader, behind, length, _block, _blockPayloads);
            _hasPayloads = true;
            return;
        }

        _layout = ArrayLayout.OfBranches(reader.PageSize);
        _set = *(IdSetReference*)behind;
        Count = _set.Ids;
    }

    /// <summary>Releases the set.</summary>
    public void Close()
    {
        _reader = null;
        _page = null;
        _set = default;
        _count = 0;
        Count = 0;
        _place = Place.Unset;
        _isPending = false;
    }

    /// <summary>Moves to the next id, or to the first one; returns false when there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => TryStepNext() || MoveToBlock(1);

    /// <summary>Moves to the previous id, or to the last one; returns false when there is none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MovePrevious() => TryStepPrevious() || MoveToBlock(-1);

    /// <summary>Moves to the next id if it is in the same block; otherwise stays in place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepNext()
    {
        _isPending = false;
        if (_place != Place.OnId || _at + 1 >= _count)
            return false;
        _at++;
        return true;
    }

    /// <summary>Moves to the previous id if it is in the same block; otherwise stays in place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepPrevious()
    {
        _isPending = false;
        if (_place != Place.OnId || _at == 0)
            return false;
        _at--;
        return true;
    }

    /// <summary>Moves before the first id.</summary>
    public void MoveToStart() => End(-1);

    /// <summary>Moves past the last id.</summary>
    public void MoveToEnd() => End(1);

    /// <summary>
    /// Moves to the first id at or above <paramref name="id"/>; returns false when there is none. Skips blocks without unpacking them.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor is lost until another seek.</exception>
    public bool Seek(long id)
    {
        _isPending = false;
        id = Math.Max(id, 0);
        if (Count == 0)
            return End(1);
        if (_set.Root != 0 && !(_place == Place.OnId && id >= _block[0] && id <= _block[_count - 1]))
            FindBlock(id);
        _at = Search(_place == Place.OnId && _block[_at] <= id ? _at : 0, id);
        if (_at == _count)
            return _isPending = Leave(id);
        _place = Place.OnId;
        return _isPending = true;
    }

    /// <summary>
    /// Copies ids, and moves to the last one copied. Directly after <see cref="Seek"/>, the first id copied is the one that it found; otherwise it is
    /// the id after the current one, or the first id of the set.
    /// </summary>
    /// <param name="ids">Receives the ids.</param>
    /// <param name="payloads">
    /// Receives their payloads; empty to leave them packed. Otherwise it must have room for as many payloads as <paramref name="ids"/> has ids.
    /// </param>
    /// <returns>The number of ids; 0 at the end of the set.</returns>
    public int Fill(Span<long> ids, Span<byte> payloads)
    {
        var filled = 0;
        while (filled < ids.Length && (_isPending || MoveNext()))
        {
            _isPending = false;
            var count = Math.Min(_count - _at, ids.Length - filled);
            new ReadOnlySpan<long>(_block + _at, count).CopyTo(ids[filled..]);
            if (!payloads.IsEmpty)
            {
                LoadPayloads();
                new ReadOnlySpan<byte>(_blockPayloads + _at, count).CopyTo(payloads[filled..]);
            }

            filled += count;
            _at += count - 1;
        }

        return filled;
    }

    private void LoadPayloads()
    {
        if (_hasPayloads)
            return;
        IdPage.UnpackPayloads(_reader!, _page, _index, _blockPayloads);
        _hasPayloads = true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveToBlock(int step)
    {
        if (_place == Place.Lost)
            IdSetErrors.ThrowLost();
        if (Count == 0 || _place == (step > 0 ? Place.AfterLast : Place.BeforeFirst))
            return End(step);
        if (_set.Root != 0)
            return _place == Place.OnId ? StepBlock(step) : MoveToEdge(step);
        return _place == Place.OnId ? End(step) : Enter(step);
    }

    private bool StepBlock(int step)
    {
        _place = Place.Lost;
        var bound = step > 0 ? _block[_count - 1] : _block[0];
        var next = _index + step;
        if ((uint)next >= (uint)IdPage.Count(_page))
        {
            if (!_path.TryStep(_reader!, _layout, step))
                return End(step);
            _page = _path.ReadIds(_reader!);
            next = step > 0 ? 0 : IdPage.Count(_page) - 1;
        }

        // Without the check below, the cursor would follow pages that form a cycle forever.
        Load(next);
        if (step > 0 ? _block[0] <= bound : _block[_count - 1] >= bound)
            IdSetErrors.ThrowBlock(_reader!, _page, _index, IdPage.Entries(_page)[_index]);
        return Enter(step);
    }

    private bool MoveToEdge(int step)
    {
        _place = Place.Lost;
        _path.DescendToEdge(_reader!, _layout, _set, first: step > 0);
        _page = _path.ReadIds(_reader!);
        Load(step > 0 ? 0 : IdPage.Count(_page) - 1);
        return Enter(step);
    }

    private bool Enter(int step)
    {
        _at = step > 0 ? 0 : _count - 1;
        _place = Place.OnId;
        return true;
    }

    private void Load(int index)
    {
        _index = index;
        _hasPayloads = false;
        _count = IdPage.Unpack(_reader!, _page, index, _block);
        if (_block[_count - 1] > _path.Highest)
            IdSetErrors.ThrowBounds(_reader!, _path.Leaf, _path.Lowest, _path.Highest);
    }

    /// <summary>Unpacks the block that contains the id, or after which the id belongs.</summary>
    private void FindBlock(long id)
    {
        var isInPage = _place == Place.OnId && id >= IdPage.Entries(_page)[0].First;
        _place = Place.Lost;
        if (isInPage)
        {
            var block = IdPage.Gallop(_page, id >= IdPage.Entries(_page)[_index].First ? _index : 0, id);
            if (block + 1 < IdPage.Count(_page))
            {
                Load(block);
                return;
            }
        }

        // An id past the last block of this page may be in another page.
        _path.Descend(_reader!, _layout, _set, id);
        _page = _path.ReadIds(_reader!);
        Load(IdPage.FindBlock(_page, id));
    }

    // Returns the index of the first id at or above `id`, searching from an index on. Branch-free, because no processor can predict on which side of
    // a position an id lies. Neither id is negative, so the sign of their difference is the result of the comparison.
    private int Search(int from, long id)
    {
        const int few = 8;
        var ids = _block;
        var left = _count - from;
        while (left > few)
        {
            var half = left >>> 1;
            from += (int)((ulong)(ids[from + half - 1] - id) >> 63) * half;
            left -= half;
        }

        var below = 0;
        for (var i = 0; i < left; i++)
            below += (int)((ulong)(ids[from + i] - id) >> 63);
        return from + below;
    }

    // All ids of the block are below the sought one, so the next id is the first one of the next block.
    private bool Leave(long id)
    {
        _place = Place.OnId;
        _at = _count - 1;
        if (!MoveToBlock(1))
            return false;

        // An id below the sought one would make an intersection loop forever.
        if (_block[0] < id)
            IdSetErrors.ThrowBounds(_reader!, _path.Leaf, id, _path.Highest);
        return true;
    }

    private bool End(int step)
    {
        _place = step > 0 ? Place.AfterLast : Place.BeforeFirst;
        _isPending = false;
        return false;
    }
}
