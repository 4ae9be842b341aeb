using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.ValueSets.Records;

namespace Voron.Trees.ValueSets;

/// <summary>A position on a value in a tree of value sets. It moves in both directions, over all sets or within one.</summary>
/// <remarks>
/// <para>
/// The position is a pair: a key in the tree, and a value in the record of that key or in the companion. In a transaction that can write, the
/// cursor keeps copies of both, and the change counts of both trees at which it last located their pages. After a change, it finds its position
/// again by the copies, whatever form the set has by then. After its value is removed, the cursor stays where the value was, and the next move
/// leads to a neighbour.
/// </para>
/// <para>A move that throws leaves the cursor lost until another seek. Designed for pooling: moving allocates nothing.</para>
/// </remarks>
internal sealed unsafe class ValueSetTreeCursor
{
    private readonly TreeCursor _keyCursor = new();
    private readonly TreeCursor _largeCursor = new();
    private TreeState? _keys;
    private TreeState? _large;
    private PageReader? _reader;
    private bool _canChange;
    private Place _place;
    private long _changes;

    // The key of the only set that the cursor covers, if it is bound to one.
    private byte[] _boundKey = [];
    private int _boundLength = -1;

    // Copies of the current key and value, in a transaction that can write.
    private byte[] _savedKey = [];
    private int _savedKeyLength;
    private byte[] _savedValue = [];
    private int _savedValueLength;

    // The set of the current key. Valid while neither tree changes.
    private ValueSetForm _form;
    private long _count;
    private long _number;
    private byte* _bytes;
    private int _length;
    private int _index;

    private enum Place
    {
        Unset,
        BeforeFirst,
        AfterLast,
        Pair,
        Lost,
    }

    /// <summary>True if the cursor is on a value that can be read; false also if that value has been removed since.</summary>
    public bool IsOnPair => _place == Place.Pair && (IsCurrent || TryReturn());

    /// <summary>The key of the value. Valid until the next move or change.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not on a value, or the value has been removed.</exception>
    public ReadOnlySpan<byte> Key
    {
        get
        {
            RequirePair();
            return _keyCursor.Key;
        }
    }

    /// <summary>The value. Valid until the next move or change.</summary>
    /// <inheritdoc cref="Key"/>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            RequirePair();
            return CurrentValue;
        }
    }

    /// <summary>The number of values under the current key.</summary>
    /// <inheritdoc cref="Key"/>
    public long CountOfKey
    {
        get
        {
            RequirePair();
            return _count;
        }
    }

    /// <summary>The number of values in the set of a bound cursor; 0 if the tree does not contain the key.</summary>
    public long CountOfBound => ValueSetReader.CountOf(_keys!, _reader!, BoundKey);

    private bool IsBound => _boundLength >= 0;

    private ReadOnlySpan<byte> BoundKey => _boundKey.AsSpan(0, _boundLength);

    private ReadOnlySpan<byte> SavedKey => _savedKey.AsSpan(0, _savedKeyLength);

    private ReadOnlySpan<byte> SavedValue => _savedValue.AsSpan(0, _savedValueLength);

    private long ChangeCount => _keys!.ChangeCount + (_large?.ChangeCount ?? 0);

    private bool IsCurrent => !_canChange || _changes == ChangeCount;

    private ReadOnlySpan<byte> Bytes => new(_bytes, _length);

    private ReadOnlySpan<byte> CurrentValue => _form switch
    {
        ValueSetForm.One => Bytes[1..],
        ValueSetForm.Few => FewValues.ValueAt(_reader!, Bytes, _index),
        _ => _largeCursor.Key[ValueSetLayout.NumberBytes..],
    };

    /// <summary>Opens a tree.</summary>
    /// <param name="keys">The tree.</param>
    /// <param name="large">Its companion.</param>
    /// <param name="reader">The pages of the transaction.</param>
    /// <param name="canChange">True if the trees may change while the cursor is open.</param>
    public void Open(TreeState keys, TreeState? large, PageReader reader, bool canChange)
    {
        Close();
        _keys = keys;
        _large = large;
        _reader = reader;
        _canChange = canChange;
        _keyCursor.Open(keys, reader, canChange: false);
        if (large != null)
            _largeCursor.Open(large, reader, canChange: false);
    }

    /// <summary>Binds the open cursor to the set of a key, which need not exist.</summary>
    public void Bind(ReadOnlySpan<byte> key)
    {
        if (_boundKey.Length < key.Length)
            _boundKey = new byte[key.Length];
        key.CopyTo(_boundKey);
        _boundLength = key.Length;
    }

    /// <summary>Releases the tree. A second call does nothing.</summary>
    public void Close()
    {
        _keyCursor.Close();
        _largeCursor.Close();
        _keys = null;
        _large = null;
        _reader = null;
        _place = Place.Unset;
        _boundLength = -1;
        _bytes = null;
    }

    public bool SeekFirst() => SeekEdge(1);

    public bool SeekLast() => SeekEdge(-1);

    /// <summary>
    /// Moves to the first value of the first key at or above <paramref name="key"/> (step 1), or to the last value of the last key at or
    /// below it (step -1).
    /// </summary>
    public bool SeekKey(ReadOnlySpan<byte> key, int step)
    {
        _place = Place.Lost;
        return FindKey(key, step) ? EnterSet(step) : End(step);
    }

    /// <summary>
    /// Moves to a pair; if it does not exist, sets <paramref name="exact"/> to false and moves to the neighbour in the direction of the step.
    /// </summary>
    public bool Seek(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, int step, out bool exact)
    {
        exact = false;
        _place = Place.Lost;
        if (!FindKey(key, step))
            return End(step);
        if (!_keyCursor.Key.SequenceEqual(key))
            return EnterSet(step);
        ReadSet();
        return FindValue(value, step, out exact) ? Arrive() : StepKey(step);
    }

    /// <summary>Moves to a value in the set of a bound cursor, or to its neighbour in the direction of the step.</summary>
    public bool SeekBound(ReadOnlySpan<byte> value, int step, out bool exact)
    {
        exact = false;
        _place = Place.Lost;
        if (!_keyCursor.SeekExact(BoundKey))
            return End(step);
        ReadSet();
        return FindValue(value, step, out exact) ? Arrive() : End(step);
    }

    /// <summary>Moves to the next value (step 1) or to the previous one (step -1); without a position, to the first or the last one.</summary>
    public bool Move(int step)
    {
        switch (_place)
        {
            case Place.Pair:
                if (!IsCurrent)
                    return Continue(step);
                _place = Place.Lost;
                return StepValue(step) ? Arrive() : StepKey(step);
            case Place.AfterLast when step > 0:
            case Place.BeforeFirst when step < 0:
                return false;
            case Place.Lost:
                ValueSetErrors.ThrowLost();
                return false;
            default:
                return SeekEdge(step);
        }
    }

    /// <summary>Moves to the first value of the next key (step 1), or to the last one of the previous key (step -1).</summary>
    public bool MoveKey(int step)
    {
        if (_place != Place.Pair)
            return Move(step);
        if (IsCurrent)
        {
            _place = Place.Lost;
            return StepKey(step);
        }

        _place = Place.Lost;
        if (!FindKey(SavedKey, step))
            return End(step);
        return _keyCursor.Key.SequenceEqual(SavedKey) ? StepKey(step) : EnterSet(step);
    }

    /// <summary>
    /// Describes the position for a debugger or a log. Moves nothing and never throws, whatever another thread does with the cursor.
    /// </summary>
    public string Describe() => _place switch
    {
        Place.Pair => _canChange ? $"at {Describe(_savedKey, _savedKeyLength)}, {Describe(_savedValue, _savedValueLength)}" : "on a value",
        Place.BeforeFirst => "before the first value",
        Place.AfterLast => "after the last value",
        Place.Lost => "lost",
        _ => "not on a value yet",
    };

    private static string Describe(byte[] bytes, int length) => KeyText.Of(bytes.AsSpan(0, Math.Min(length, bytes.Length)));

    private bool SeekEdge(int step)
    {
        _place = Place.Lost;
        var found = IsBound ? _keyCursor.SeekExact(BoundKey) : step > 0 ? _keyCursor.SeekFirst() : _keyCursor.SeekLast();
        return found ? EnterSet(step) : End(step);
    }

    private bool FindKey(ReadOnlySpan<byte> key, int step) => step > 0 ? _keyCursor.Seek(key) : _keyCursor.SeekForPrevious(key);

    // Moves on from a pair that may be gone, in trees that have changed.
    private bool Continue(int step)
    {
        _place = Place.Lost;
        if (!FindKey(SavedKey, step))
            return End(step);
        if (!_keyCursor.Key.SequenceEqual(SavedKey))
            return IsBound ? End(step) : EnterSet(step);
        ReadSet();
        if (FindValue(SavedValue, step, out var exact) && (!exact || StepValue(step)))
            return Arrive();
        return StepKey(step);
    }

    /// <summary>Finds the pair again; if it is gone, returns false and keeps the saved position.</summary>
    private bool TryReturn()
    {
        if (!_keyCursor.SeekExact(SavedKey))
            return false;
        ReadSet();
        if (!FindValue(SavedValue, 1, out var exact) || !exact)
            return false;
        _changes = ChangeCount;
        return true;
    }

    private bool StepKey(int step)
    {
        if (IsBound || !(step > 0 ? _keyCursor.MoveNext() : _keyCursor.MovePrevious()))
            return End(step);
        return EnterSet(step);
    }

    private bool EnterSet(int step)
    {
        ReadSet();
        if (_form == ValueSetForm.Large)
        {
            Span<byte> buffer = stackalloc byte[ValueSetLayout.NumberBytes];
            var found = step > 0
                ? _largeCursor.Seek(ValueSetLayout.Key(_number, default, buffer))
                : SeekBefore(ValueSetLayout.Key(_number + 1, default, buffer));
            if (!found || !IsInSet)
                ThrowCount();
        }
        else
        {
            _index = step > 0 ? 0 : (int)_count - 1;
        }

        return Arrive();
    }

    // Unless it is damaged, the companion contains no key that is only the number of another set.
    private bool SeekBefore(ReadOnlySpan<byte> key) =>
        _largeCursor.SeekForPrevious(key) && (!_largeCursor.Key.SequenceEqual(key) || _largeCursor.MovePrevious());

    private bool IsInSet => _largeCursor.Key is var key && key.Length > ValueSetLayout.NumberBytes && ValueSetLayout.NumberOf(key) == _number;

    private void ReadSet()
    {
        var set = ValueSetRecord.Read(_reader!, _keyCursor.Record);
        _form = set.Form;
        _count = set.Count;
        _bytes = (byte*)Unsafe.AsPointer(ref Unsafe.AsRef(in set.Bytes.GetPinnableReference()));
        _length = set.Bytes.Length;
        if (_form != ValueSetForm.Large)
            return;
        _number = set.Large.Number;
        _ = ValueSetReader.Companion(_keys!, _large, _reader!);
    }

    /// <summary>Moves to a value in the set, or to its neighbour in the direction of the step; false if the set has neither.</summary>
    [SkipLocalsInit]
    private bool FindValue(ReadOnlySpan<byte> value, int step, out bool exact)
    {
        exact = false;
        if (_form == ValueSetForm.Large)
        {
            // A value that is too long is cut to one byte above the limit. It still compares the same way with all possible values, and equals none.
            var most = Math.Min(value.Length, ValueSetLayout.MaxValueLength(_reader!.PageSize) + 1);
            Span<byte> buffer = stackalloc byte[ValueSetLayout.NumberBytes + most];
            var key = ValueSetLayout.Key(_number, value[..most], buffer);
            var found = step > 0 ? _largeCursor.Seek(key) : _largeCursor.SeekForPrevious(key);
            exact = found && _largeCursor.Key.SequenceEqual(key);
            return found && IsInSet;
        }

        var index = _form == ValueSetForm.One ? SearchOne(value) : FewValues.Search(_reader!, Bytes, value);
        exact = index >= 0;
        _index = exact ? index : step > 0 ? ~index : ~index - 1;
        return (uint)_index < (uint)_count;
    }

    private int SearchOne(ReadOnlySpan<byte> value)
    {
        var order = Bytes[1..].SequenceCompareTo(value);
        return order == 0 ? 0 : order < 0 ? ~1 : ~0;
    }

    private bool StepValue(int step)
    {
        if (_form == ValueSetForm.Large)
            return (step > 0 ? _largeCursor.MoveNext() : _largeCursor.MovePrevious()) && IsInSet;
        _index += step;
        return (uint)_index < (uint)_count;
    }

    private bool Arrive()
    {
        if (_canChange)
        {
            _savedKeyLength = Copy(_keyCursor.Key, ref _savedKey);
            _savedValueLength = Copy(CurrentValue, ref _savedValue);
            _changes = ChangeCount;
        }

        _place = Place.Pair;
        return true;
    }

    private static int Copy(ReadOnlySpan<byte> bytes, ref byte[] target)
    {
        if (target.Length < bytes.Length)
            target = new byte[Math.Max(64, bytes.Length)];
        bytes.CopyTo(target);
        return bytes.Length;
    }

    private bool End(int step)
    {
        _place = step > 0 ? Place.AfterLast : Place.BeforeFirst;
        return false;
    }

    private void RequirePair()
    {
        if (!IsOnPair)
            ValueSetErrors.ThrowNoPair();
    }

    private void ThrowCount() =>
        ValueSetErrors.ThrowCount(_reader!, ValueSetRecord.Read(_reader!, _keyCursor.Record).Large);
}
