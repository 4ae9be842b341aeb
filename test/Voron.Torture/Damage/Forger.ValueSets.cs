using Voron.Format;

namespace Voron.Torture.Damage;

/// <content>Sets of values, and the companion of their tree.</content>
internal sealed partial class Forger
{
    /// <summary>Changes a record of a tree of value sets, or an entry of its companion. The page stays one that is whole.</summary>
    private string ChangeValueSet()
    {
        var (page, record) = FindValueSet(random.Next(4));
        if (page < 0)
            return ChangeIdPage();
        var bytes = store.ChangePage(page);
        var what = $"page {page}, the record at {record.Offset} of a tree of value sets";
        if (record.KeyLength != ValueSetEntries.KeyBytes)
            return ChangeCompanion(bytes, record, what);
        var set = bytes.Slice(record.ValueOffset, record.ValueLength);
        var (field, size) = (ValueSetForm)set[0] switch
        {
            ValueSetForm.Large => (8 * random.Next(1, 4), 8),
            ValueSetForm.Few => FieldOfFew(set),
            _ => (0, 1),
        };
        if (random.Next(12) == 0)
            (field, size) = (random.Next(2), 1);
        if (field + size > set.Length)
            return ChangeBytes();
        var value = NewValue(Get(set[field..], size));
        Set(set[field..], size, value);
        return $"{what}, byte {field}: {size} bytes become {value}";
    }

    // The count, the start of the heap, the holes, a place, or the length of a value.
    private (int Field, int Size) FieldOfFew(ReadOnlySpan<byte> set)
    {
        var place = FewValuesHeader.Size + (2 * random.Next(Math.Clamp((int)Get(set[2..], 2), 1, 100)));
        if (place + 2 > set.Length)
            return (2, 2);
        return random.Next(8) switch
        {
            0 => (2, 2),
            1 => (4, 2),
            2 => (6, 2),
            < 6 => (place, 2),
            6 => ((int)Get(set[place..], 2), 2),
            _ => ((int)Get(set[place..], 2) + 2, 1),
        };
    }

    // An entry goes to another set, gets another value, or has bytes of its own, or the number of the next set changes.
    private string ChangeCompanion(Span<byte> page, LeafRecord record, string what)
    {
        if (record.ValueLength == sizeof(long))
        {
            var next = NewValue(Get(page[record.ValueOffset..], 8));
            Set(page[record.ValueOffset..], 8, next);
            return $"{what}: the next set becomes {next}";
        }

        var at = random.Next(2) == 0 ? sizeof(long) - 1 : random.Next(record.KeyLength);
        var value = NewValue(page[record.KeyOffset + at]);
        Set(page[(record.KeyOffset + at)..], 1, value);
        return $"{what}: byte {at} of the key of the companion becomes {(byte)value}";
    }

    private (long Page, LeafRecord Record) FindValueSet(int wanted)
    {
        for (var attempt = 0; attempt < 200; attempt++)
        {
            var page = random.NextInt64(3, store.PageCount);
            if (store.Page(page) is not { Kind: PageKind.Leaf, EntryCount: > 0 } || !TryDrawRecord(store.PageBytes(page), out var record))
                continue;
            var bytes = store.PageBytes(page);
            var isOfCompanion = record.KeyLength >= sizeof(long) && bytes.Slice(record.KeyOffset, 6).IndexOfAnyExcept((byte)0) < 0
                && record.ValueLength is 0 or sizeof(long);
            var isOfKeys = record is { KeyLength: ValueSetEntries.KeyBytes, ValueLength: > 1 }
                && (ValueSetForm)bytes[record.ValueOffset] is ValueSetForm.Few or ValueSetForm.Large;
            if (wanted == 0 ? isOfCompanion : isOfKeys)
                return (page, record);
        }

        return (-1, default);
    }
}
