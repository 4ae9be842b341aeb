using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.Pages;
using Voron.Trees.ValueSets.Records;

namespace Voron.Trees.ValueSets;

/// <summary>Changes the sets in a tree of value sets, each stored under its key.</summary>
/// <remarks>
/// A set is stored in its leaf while it fits into the largest record. After that, its values move to the companion. They return when they would take
/// at most a quarter of that record, or when one value remains, so that no set alternates between the two forms. When a set becomes empty, its key is
/// deleted from the tree. The header of the tree counts the values of all sets. A failure can leave the two trees half changed: the transaction, or
/// its savepoint, must be rolled back.
/// </remarks>
internal unsafe ref struct ValueSetWriter
{
    private readonly PageWriter _pages;
    private readonly TreeState _keys;
    private readonly TreeState? _large;

    // Neither is part of a page.
    private readonly ReadOnlySpan<byte> _key;
    private readonly ReadOnlySpan<byte> _value;

    // The location of the set's record, if it exists. Changes to the companion do not move the leaf.
    private PageNumber _leaf;
    private int _index = -1;

    // The number of values in all sets before the change. A tree that becomes empty resets its count.
    private readonly long _before;

    private ValueSetWriter(PageWriter pages, TreeState keys, TreeState? large, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        _pages = pages;
        _keys = keys;
        _large = large;
        _key = key;
        _value = value;
        _before = keys.NestedValues;
    }

    private readonly TreeState Companion => ValueSetReader.Companion(_keys, _large, _pages);

    /// <summary>Adds a value to the set of a key; returns false, and changes nothing, if the set already contains it.</summary>
    /// <param name="pages">The pages of the tree.</param>
    /// <param name="keys">The tree.</param>
    /// <param name="large">Its companion.</param>
    /// <param name="key">The key. Its bytes must not be part of a page.</param>
    /// <param name="value">The value, of a valid length. Its bytes must not be part of a page.</param>
    /// <exception cref="CorruptionException">A page of the tree is damaged. The transaction can only be rolled back.</exception>
    public static bool Add(PageWriter pages, TreeState keys, TreeState? large, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var writer = new ValueSetWriter(pages, keys, large, key, value);
        if (!writer.TryFind(out var set))
        {
            writer.StoreOne(value);
            writer.Count(1);
            return true;
        }

        var isAdded = set.Form switch
        {
            ValueSetForm.One => writer.AddToOne(set.OnlyValue),
            ValueSetForm.Few => writer.AddToFew(set.Bytes),
            _ => writer.AddToLarge(set.Large),
        };
        if (isAdded)
            writer.Count(1);
        return isAdded;
    }

    /// <summary>Removes a value from the set of a key; returns false, and changes nothing, if the set does not contain it.</summary>
    /// <inheritdoc cref="Add"/>
    public static bool Remove(PageWriter pages, TreeState keys, TreeState? large, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var writer = new ValueSetWriter(pages, keys, large, key, value);
        if (!writer.TryFind(out var set))
            return false;
        var isRemoved = set.Form switch
        {
            ValueSetForm.One => set.OnlyValue.SequenceEqual(value) && TreeWriter.Delete(pages, keys, key),
            ValueSetForm.Few => writer.RemoveFromFew(set.Bytes),
            _ => writer.RemoveFromLarge(set.Large),
        };
        if (isRemoved)
            writer.Count(-1);
        return isRemoved;
    }

    /// <summary>Removes a key and its set, and returns the number of values removed.</summary>
    /// <inheritdoc cref="Add"/>
    public static long RemoveAll(PageWriter pages, TreeState keys, TreeState? large, ReadOnlySpan<byte> key)
    {
        var writer = new ValueSetWriter(pages, keys, large, key, default);
        if (!writer.TryFind(out var set))
            return 0;
        var count = set.Count;
        if (set.Form == ValueSetForm.Large)
            FreeLarge(pages, keys, large, set.Large);
        TreeWriter.Delete(pages, keys, key);
        writer.Count(-count);
        return count;
    }

    /// <summary>Removes the keys in a range and their sets, and returns the number of keys removed.</summary>
    /// <inheritdoc cref="Add"/>
    public static long DeleteRange(PageWriter pages, TreeState keys, TreeState? large, KeyBound start, KeyBound end)
    {
        // Only the companion changes during the walk.
        var cursor = new TreeCursor();
        cursor.Open(keys, pages, canChange: false);
        var values = 0L;
        Span<byte> first = stackalloc byte[start.Length];
        start.CopyTo(first);
        for (var found = cursor.Seek(first); found && end.IsAfter(cursor.Key); found = cursor.MoveNext())
        {
            var set = ValueSetRecord.Read(pages, cursor.Record);
            values += set.Count;
            if (set.Form == ValueSetForm.Large)
                FreeLarge(pages, keys, large, set.Large);
        }

        cursor.Close();
        var before = keys.NestedValues;
        if (values > before)
            ValueSetErrors.ThrowAll(pages, values, before);
        var removed = RangeRemoval.Delete(pages, keys, start, end);
        keys.NestedValues = before - values;
        return removed;
    }

    /// <summary>Removes all keys. The number of the next large set is kept.</summary>
    public static void Clear(PageWriter pages, TreeState keys, TreeState? large)
    {
        RangeRemoval.DeleteAll(pages, keys);
        if (large == null || large.Root.IsNone)
            return;
        var next = NextNumber(pages, large);
        RangeRemoval.DeleteAll(pages, large);
        SaveNextNumber(pages, large, next);
    }

    private static void FreeLarge(PageWriter pages, TreeState keys, TreeState? large, in LargeSetReference set)
    {
        var (start, end) = (BigEndian(set.Number), BigEndian(set.Number + 1));
        var removed = PlantedFault.KeepLargeSet ? set.Count : RangeRemoval.Delete(
            pages, ValueSetReader.Companion(keys, large, pages), KeyBound.Before(AsBytes(start)), KeyBound.Before(AsBytes(end)));
        if (removed != set.Count)
            ValueSetErrors.ThrowCount(pages, set);
    }

    private static ulong BigEndian(long number) =>
        BitConverter.IsLittleEndian ? BinaryPrimitives.ReverseEndianness((ulong)number) : (ulong)number;

    private static ReadOnlySpan<byte> AsBytes(in ulong number) => MemoryMarshal.AsBytes(new ReadOnlySpan<ulong>(in number));

    /// <summary>Finds the record of the key.</summary>
    private bool TryFind(out ValueSetRecord set)
    {
        set = default;
        if (_keys.Root.IsNone || _key.IsEmpty)
            return false;
        fixed (byte* bytes = _key)
        {
            var search = new SearchKey(bytes, _key.Length);
            TreeReader.Descend(_keys, _pages, search, out var path);
            _leaf = path.Page(path.LeafLevel);
            var leaf = TreePages.ReadLeaf(_pages, _leaf);
            _index = LeafPage.Search(leaf, search);
            if (_index < 0)
                return false;
            set = ValueSetRecord.Read(_pages, SlottedPage.Record(leaf, _index));
        }

        if (set.Count > _keys.NestedValues)
            ValueSetErrors.ThrowAll(_pages, set.Count, _keys.NestedValues);
        return true;
    }

    private readonly bool AddToOne(ReadOnlySpan<byte> other)
    {
        var order = other.SequenceCompareTo(_value);
        if (order == 0)
            return false;
        Span<byte> copy = stackalloc byte[other.Length];
        other.CopyTo(copy);
        var bytes = (int)ValueSetLayout.FewBytes(2, copy.Length + _value.Length);
        if (bytes > ValueSetLayout.MaxCapacity(_pages.PageSize))
        {
            var set = BeginLarge();
            Append(ref set, order < 0 ? copy : _value);
            Append(ref set, order < 0 ? _value : copy);
            StoreLarge(set);
            return true;
        }

        Span<byte> record = stackalloc byte[ValueSetLayout.CapacityFor(bytes)];
        FewValuesEditor.Begin(record);
        FewValuesEditor.TryInsert(_pages, record, 0, copy);
        FewValuesEditor.TryInsert(_pages, record, order < 0 ? 1 : 0, _value);
        Store(record);
        return true;
    }

    [SkipLocalsInit]
    private readonly bool AddToFew(ReadOnlySpan<byte> few)
    {
        var index = FewValues.Search(_pages, few, _value);
        if (index >= 0)
            return false;
        index = ~index;
        Span<byte> record = stackalloc byte[ValueSetLayout.MostCapacity];
        record = record[..few.Length];
        few.CopyTo(record);
        if (FewValuesEditor.TryInsert(_pages, record, index, _value))
        {
            Store(record);
            return true;
        }

        var bytes = FewValues.UsedBytes(record) + _value.Length + FewValuesHeader.BytesOfValue;
        if (bytes > ValueSetLayout.MaxCapacity(_pages.PageSize))
        {
            MoveToCompanion(record, index);
            return true;
        }

        Span<byte> larger = stackalloc byte[ValueSetLayout.CapacityFor(bytes)];
        FewValuesEditor.Copy(_pages, record, larger);
        if (!FewValuesEditor.TryInsert(_pages, larger, index, _value))
            ValueSetErrors.ThrowSum(_pages, FewValues.Count(record), record.Length);
        Store(larger);
        return true;
    }

    private readonly bool AddToLarge(LargeSetReference set)
    {
        if (!TreeWriter.Insert(_pages, Companion, LargeKey(set.Number, stackalloc byte[ValueSetLayout.NumberBytes + _value.Length]), default))
            return false;
        set.Count += PlantedFault.ForgetLargeCount ? 0 : 1;
        set.Bytes += _value.Length;
        StoreLarge(set);
        return true;
    }

    [SkipLocalsInit]
    private readonly bool RemoveFromFew(ReadOnlySpan<byte> few)
    {
        var index = FewValues.Search(_pages, few, _value);
        if (index < 0)
            return false;
        if (FewValues.Count(few) == 2)
        {
            StoreOne(FewValues.ValueAt(_pages, few, 1 - index));
            return true;
        }

        Span<byte> record = stackalloc byte[ValueSetLayout.MostCapacity];
        record = record[..few.Length];
        few.CopyTo(record);
        FewValuesEditor.Remove(_pages, record, index);
        var used = FewValues.UsedBytes(record);
        if (record.Length > ValueSetLayout.LeastCapacity && used <= record.Length / 4)
        {
            Span<byte> smaller = stackalloc byte[ValueSetLayout.CapacityFor(2 * used)];
            FewValuesEditor.Copy(_pages, record, smaller);
            record = smaller;
        }

        Store(record);
        return true;
    }

    private readonly bool RemoveFromLarge(LargeSetReference set)
    {
        if (!TreeWriter.Delete(_pages, Companion, LargeKey(set.Number, stackalloc byte[ValueSetLayout.NumberBytes + _value.Length])))
            return false;
        set.Count--;
        set.Bytes -= _value.Length;
        if (set.Count <= 0 || set.Bytes < set.Count || (set.Count == 1 && set.Bytes > ValueSetLayout.MaxValueLength(_pages.PageSize)))
            ValueSetErrors.ThrowCount(_pages, set);
        if (ValueSetLayout.IsSmall(_pages.PageSize, set.Count, set.Bytes))
            MoveToLeaf(set);
        else
            StoreLarge(set);
        return true;
    }

    /// <summary>Moves the values of a large set that has become small into the leaf.</summary>
    private readonly void MoveToLeaf(in LargeSetReference set)
    {
        Span<byte> record = stackalloc byte[ValueSetLayout.CapacityFor((int)ValueSetLayout.FewBytes(set.Count, set.Bytes))];
        FewValuesEditor.Begin(record);
        var prefix = LargeKey(set.Number, stackalloc byte[ValueSetLayout.NumberBytes + _value.Length])[..ValueSetLayout.NumberBytes];
        var cursor = new TreeCursor();
        cursor.Open(Companion, _pages, canChange: false);
        var count = 0;
        ReadOnlySpan<byte> last = default;
        for (var found = cursor.Seek(prefix); found && cursor.Key.StartsWith(prefix); found = cursor.MoveNext())
        {
            last = cursor.Key[ValueSetLayout.NumberBytes..];
            if (count >= set.Count || last.IsEmpty || !FewValuesEditor.TryInsert(_pages, record, count++, last))
                ValueSetErrors.ThrowCount(_pages, set);
        }

        cursor.Close();
        if (count != set.Count || FewValues.UsedBytes(record) != ValueSetLayout.FewBytes(set.Count, set.Bytes))
            ValueSetErrors.ThrowCount(_pages, set);
        Span<byte> only = stackalloc byte[last.Length];
        last.CopyTo(only);
        FreeLarge(_pages, _keys, _large, set);
        if (count == 1)
            StoreOne(only);
        else
            Store(record);
    }

    /// <summary>Moves the values of a record and the new value to the companion.</summary>
    private readonly void MoveToCompanion(ReadOnlySpan<byte> record, int index)
    {
        var set = BeginLarge();
        for (var i = 0; i < FewValues.Count(record); i++)
        {
            if (i == index)
                Append(ref set, _value);
            Append(ref set, FewValues.ValueAt(_pages, record, i));
        }

        if (index == FewValues.Count(record))
            Append(ref set, _value);
        StoreLarge(set);
    }

    private readonly LargeSetReference BeginLarge()
    {
        var large = Companion;
        var number = large.Root.IsNone ? 1 : NextNumber(_pages, large);
        SaveNextNumber(_pages, large, number + 1);
        return new LargeSetReference { Form = ValueSetForm.Large, Number = number };
    }

    private readonly void Append(ref LargeSetReference set, ReadOnlySpan<byte> value)
    {
        if (value.Length > ValueSetLayout.MaxValueLength(_pages.PageSize))
            ValueSetErrors.ThrowRecord(_pages, $"a value of {value.Length} bytes");
        Span<byte> buffer = stackalloc byte[ValueSetLayout.NumberBytes + value.Length];
        TreeWriter.Insert(_pages, Companion, ValueSetLayout.Key(set.Number, value, buffer), default);
        set.Count++;
        set.Bytes += value.Length;
    }

    private static long NextNumber(PageWriter pages, TreeState large)
    {
        if (!TreeReader.TryGet(large, pages, ValueSetLayout.NextNumberKey, out var bytes) || bytes.Length != sizeof(long)
            || BinaryPrimitives.ReadInt64LittleEndian(bytes) is var next && (next <= 0 || !StateStructure.IsNumber(next + 1)))
            ValueSetErrors.ThrowNumber(pages);
        var number = BinaryPrimitives.ReadInt64LittleEndian(bytes);
        var cursor = new TreeCursor();
        cursor.Open(large, pages, canChange: false);
        if (!cursor.SeekLast() || cursor.Key.Length < ValueSetLayout.NumberBytes || ValueSetLayout.NumberOf(cursor.Key) >= number)
            ValueSetErrors.ThrowNumber(pages);
        cursor.Close();
        return number;
    }

    private static void SaveNextNumber(PageWriter pages, TreeState large, long next)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, next);
        TreeWriter.Put(pages, large, ValueSetLayout.NextNumberKey, bytes);
    }

    private readonly ReadOnlySpan<byte> LargeKey(long number, Span<byte> buffer) => ValueSetLayout.Key(number, _value, buffer);

    private readonly void Count(long gained)
    {
        _keys.NestedValues = _before + gained;
        _keys.Changed = true;
    }

    private readonly void StoreOne(ReadOnlySpan<byte> value)
    {
        Span<byte> record = stackalloc byte[1 + value.Length];
        record[0] = (byte)ValueSetForm.One;
        value.CopyTo(record[1..]);
        Store(record);
    }

    private readonly void StoreLarge(LargeSetReference set) => Store(MemoryMarshal.AsBytes(new ReadOnlySpan<LargeSetReference>(in set)));

    // A record that keeps its length is overwritten in place, so nothing else in the leaf moves.
    private readonly void Store(ReadOnlySpan<byte> bytes)
    {
        if (_index >= 0)
        {
            _keys.PrepareForChange();
            var leaf = _pages.Modify(_leaf);
            var record = SlottedPage.Record(leaf.Bytes, _index);
            if (LeafPage.InlineLength(record) == bytes.Length)
            {
                var place = LeafPage.InlineBytes(record);
                bytes.CopyTo(new Span<byte>(place, bytes.Length));
                leaf.MarkDirty((int)(place - leaf.Bytes), bytes.Length);
                return;
            }
        }

        TreeWriter.Put(_pages, _keys, _key, bytes);
    }
}
