using System.Runtime.CompilerServices;
using Voron.Paging;
using Voron.Trees.IdSets.Pages;

namespace Voron.Trees.IdSets;

/// <summary>A position in the set of a key that moves in both directions. Designed for pooling: moving allocates nothing.</summary>
/// <remarks>
/// The cursor stores its key, its id, and the change count of the tree at which it last located the pages of the set. While that count is unchanged,
/// the pages are valid. Otherwise the cursor finds the set again by its key, and its position by its id. After its id is removed, the cursor stays
/// where the id was, and the next move leads to the neighbour. A seek that throws leaves the cursor lost until another seek. A step that throws
/// leaves it at the id that it was about to leave.
/// </remarks>
internal sealed class IdTreeCursor
{
    private byte[] _key = [];
    private int _keyLength;
    private TreeState? _tree;
    private PageReader? _reader;
    private Place _place;
    private long _changes;

    // The position of the cursor while the set does not contain this id, or may not contain it.
    private long _id;

    // Set when a seek has found the current id and no fill has copied it yet.
    private bool _isSought;

    private enum Place
    {
        Unset,
        BeforeFirst,
        AfterLast,
        OnId,
        NearId,
        Lost,
    }

    /// <summary>The cursor over the ids of the set. Queries move it directly, whatever the position of this tree cursor.</summary>
    public IdSetCursor Set { get; } = new();

    /// <summary>The number of ids in the set; 0 if the tree does not contain the key.</summary>
    public long Count
    {
        get
        {
            Refresh();
            return Set.Count;
        }
    }

    /// <summary>True if the cursor is on an id that can be read; false also if that id has been removed since.</summary>
    public bool IsOnId
    {
        get
        {
            Refresh();
            return _place == Place.OnId || (_place == Place.NearId && TryReturn());
        }
    }

    /// <summary>The id.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not on an id, or the id has been removed.</exception>
    public long Id
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            RequireId();
            return Set.Current;
        }
    }

    /// <summary>The payload of the id.</summary>
    /// <inheritdoc cref="Id"/>
    public byte Payload
    {
        get
        {
            RequireId();
            return Set.Payload;
        }
    }

    private bool IsCurrent
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _tree is { } tree && _changes == tree.ChangeCount;
    }

    /// <summary>Opens the set of a key, which need not exist.</summary>
    /// <exception cref="CorruptionException">A page on the path is damaged. The cursor is closed.</exception>
    public void Open(TreeState tree, PageReader reader, ReadOnlySpan<byte> key)
    {
        Close();
        if (_key.Length < key.Length)
            _key = new byte[key.Length];
        key.CopyTo(_key);
        _keyLength = key.Length;
        try
        {
            Find(tree, reader);
            _reader = reader;
            _tree = tree;
        }
        catch
        {
            Close();
            throw;
        }
    }

    /// <summary>Releases the set. A second call does nothing.</summary>
    public void Close()
    {
        _place = Place.Unset;
        _isSought = false;
        _tree = null;
        _reader = null;
        Set.Close();
    }

    /// <summary>Restores the position of the cursor if the tree has changed.</summary>
    public void Refresh()
    {
        if (!IsCurrent)
            Restore();
    }

    /// <summary>Moves to the first id at or above <paramref name="id"/>; if there is none, returns false and moves past the end.</summary>
    public bool Seek(long id)
    {
        Leave();
        return Arrive(Set.Seek(id), 1);
    }

    /// <summary>Moves to the last id at or below <paramref name="id"/>; if there is none, returns false and moves before the start.</summary>
    public bool SeekForPrevious(long id)
    {
        Leave();
        return Arrive(id >= 0 && SeekBelow(id, isIncluded: true), -1);
    }

    public bool SeekFirst() => Seek(0);

    public bool SeekLast()
    {
        Leave();
        Set.MoveToEnd();
        return Arrive(Set.MovePrevious(), -1);
    }

    /// <summary>Moves to the next id if it is in the same block; otherwise stays in place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepNext()
    {
        if (_place != Place.OnId || !IsCurrent || !Set.TryStepNext())
            return false;
        _isSought = false;
        return true;
    }

    /// <summary>Moves to the previous id if it is in the same block; otherwise stays in place.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryStepPrevious()
    {
        if (_place != Place.OnId || !IsCurrent || !Set.TryStepPrevious())
            return false;
        _isSought = false;
        return true;
    }

    /// <summary>Moves to the next id, or to the first one if the cursor has not been positioned yet.</summary>
    public bool MoveNext()
    {
        _isSought = false;
        Refresh();
        switch (_place)
        {
            case Place.OnId:
                BeginStep();
                return EndStep(Set.MoveNext(), 1);
            case Place.NearId:
                return EndStep(_id < long.MaxValue && Set.Seek(_id + 1), 1);
            case Place.AfterLast:
                return false;
            case Place.Lost:
                IdSetErrors.ThrowLost();
                return false;
            default:
                var found = SeekFirst();
                _isSought = false;
                return found;
        }
    }

    /// <summary>Moves to the previous id, or to the last one if the cursor has not been positioned yet.</summary>
    public bool MovePrevious()
    {
        _isSought = false;
        Refresh();
        switch (_place)
        {
            case Place.OnId:
                BeginStep();
                return EndStep(Set.MovePrevious(), -1);
            case Place.NearId:
                return EndStep(SeekBelow(_id, isIncluded: false), -1);
            case Place.BeforeFirst:
                return false;
            case Place.Lost:
                IdSetErrors.ThrowLost();
                return false;
            default:
                var found = SeekLast();
                _isSought = false;
                return found;
        }
    }

    /// <summary>
    /// Copies the following ids, starting with the current one if a seek has just found it. Moves to the last id copied, or past the end if fewer ids
    /// remained than requested.
    /// </summary>
    /// <inheritdoc cref="IdSetCursor.Fill"/>
    /// <exception cref="CorruptionException">
    /// A page on the path is damaged. The cursor keeps its position, since the caller cannot know how many ids were copied.
    /// </exception>
    public int Fill(Span<long> ids, Span<byte> payloads)
    {
        Refresh();
        if (ids.IsEmpty)
            return 0;
        var (place, isSought) = (_place == Place.OnId ? Place.NearId : _place, _isSought);
        var id = _place == Place.OnId ? Set.Current : _id;
        try
        {
            return FillOn(ids, payloads);
        }
        catch
        {
            (_place, _id, _isSought) = (place, id, isSought);
            throw;
        }
    }

    /// <summary>Describes the position. Reads no page and never throws.</summary>
    public string Describe() => _place switch
    {
        Place.OnId => $"at {Set.Current}",
        Place.NearId => $"where {_id} was",
        Place.BeforeFirst => "before the first id",
        Place.AfterLast => "behind the last id",
        Place.Lost => "lost, after a failure",
        _ => "without a position",
    };

    private int FillOn(Span<long> ids, Span<byte> payloads)
    {
        // After a failure, the cursor is near the id that the seek found.
        var isFirst = _isSought && (_place == Place.OnId || (_place == Place.NearId && TryReturn()));
        if (!isFirst && !MoveNext())
            return 0;
        BeginStep();
        _isSought = false;
        Set.Seek(_id);
        var filled = Set.Fill(ids, payloads);
        _place = Set.IsOnId ? Place.OnId : Place.AfterLast;
        return filled;
    }

    // The seek that follows may fail half-way.
    private void Leave()
    {
        _place = Place.Lost;
        _isSought = false;
        Refresh();
    }

    private bool Arrive(bool isFound, int step)
    {
        _isSought = isFound;
        return EndStep(isFound, step);
    }

    // If the step throws, the cursor stays here.
    private void BeginStep()
    {
        if (_place == Place.OnId)
            _id = Set.Current;
        _place = Place.NearId;
    }

    private bool EndStep(bool isFound, int step)
    {
        _place = isFound ? Place.OnId : step > 0 ? Place.AfterLast : Place.BeforeFirst;
        return isFound;
    }

    private bool SeekBelow(long id, bool isIncluded)
    {
        if (!Set.Seek(id))
            Set.MoveToEnd();
        else if (isIncluded && Set.Current == id)
            return true;
        return Set.MovePrevious();
    }

    private bool TryReturn()
    {
        if (!Set.Seek(_id) || Set.Current != _id)
            return false;
        _place = Place.OnId;
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Restore()
    {
        if (_tree is not { } tree || _reader is not { } reader)
            return;

        if (_place == Place.OnId)
            BeginStep();
        Find(tree, reader);
        if (_place == Place.NearId)
            TryReturn();
    }

    private void Find(TreeState tree, PageReader reader)
    {
        Set.Close();
        IdTreeReader.TryOpen(tree, reader, _key.AsSpan(0, _keyLength), Set);
        _changes = tree.ChangeCount;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void RequireId()
    {
        if ((_place != Place.OnId || !IsCurrent) && !IsOnId)
            TreeErrors.ThrowNoEntry();
    }
}
