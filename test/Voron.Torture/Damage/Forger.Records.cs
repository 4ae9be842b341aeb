using Voron.Format;

namespace Voron.Torture.Damage;

/// <content>The records of tables and feeds.</content>
internal sealed partial class Forger
{
    private const int HeadBytes = 24;

    /// <summary>Changes the bytes of a key or of a value, or moves the border between them. The page stays one that is whole.</summary>
    private string ChangeSystemRecord()
    {
        // Each tree has its turn as often as the others, although the changes of a feed have most of the pages.
        var trees = store.SystemLeaves;
        var (name, pages) = trees[random.Next(trees.Count)];
        var page = pages[random.Next(pages.Count)];
        var bytes = store.ChangePage(page);
        if (!TryDrawRecord(bytes, out var record) || !TryDrawRecord(bytes, out var other))
            return ChangePageHeader();
        var (key, value) = (record.KeyLength, record.ValueLength);
        var what = $"{name}, page {page}, the record at {record.Offset} with a key of {key} bytes";
        switch (random.Next(8))
        {
            case 0 when key > 0:
                var at = record.KeyOffset + key - 1 - random.Next(Math.Min(key, 4));
                Set(bytes[at..], 1, NewValue(bytes[at]));
                return $"{what}: byte {at - record.KeyOffset} of the key becomes {bytes[at]}";
            case 1:
                return MoveBorder(bytes[record.Offset..], key, value, what);
            case 2 when value > 0:
                return Shorten(bytes, record, what);
            case 3 when value > 0:
                var length = Math.Min(value, other.ValueLength);
                bytes.Slice(other.ValueOffset, length).CopyTo(bytes[record.ValueOffset..]);
                return $"{what}: {length} bytes of the value are those of the record at {other.Offset}";
            default:
                return ChangeValue(bytes.Slice(record.ValueOffset, value), what);
        }
    }

    // An earlier change of the page may have made it one that has no records.
    private bool TryDrawRecord(ReadOnlySpan<byte> page, out LeafRecord record)
    {
        record = default;
        var slot = PageHeader.Size + (2 * random.Next(Math.Max(1, (int)Get(page[48..], 2))));
        var offset = slot + 2 > page.Length ? page.Length : (int)Get(page[slot..], 2);
        if (offset < PageHeader.Size || offset + LeafRecordHeader.Size > page.Length)
            return false;
        record = new LeafRecord(offset, (int)Get(page[offset..], 2) & LeafRecordHeader.KeyLengthMask, (int)Get(page[(offset + 2)..], 2));
        return record.ValueOffset + record.ValueLength <= page.Length;
    }

    private string ChangeValue(Span<byte> value, string what)
    {
        if (value.IsEmpty)
            return $"{what}: nothing";
        var size = 1 << random.Next(4);
        while (size > value.Length)
            size >>= 1;

        // Most fields are at the beginning, and at multiples of their sizes.
        var at = random.Next(random.Next(4) == 0 ? value.Length - size + 1 : Math.Min(value.Length - size + 1, HeadBytes));
        if (random.Next(2) == 0)
            at -= at % size;
        var changed = NewValue(Get(value[at..], size));
        Set(value[at..], size, changed);
        return $"{what}: {size} bytes at {at} of a value of {value.Length} become {changed}";
    }

    private string MoveBorder(Span<byte> record, int key, int value, string what)
    {
        var moved = random.Next(-Math.Min(key, 4), Math.Min(value, 4) + 1);
        Set(record, 2, Get(record, 2) + moved);
        Set(record[2..], 2, value - moved);
        return $"{what}: the key gets {moved} bytes of the value";
    }

    // The page has a larger hole instead.
    private string Shorten(Span<byte> page, LeafRecord record, string what)
    {
        var less = 1 + random.Next(random.Next(2) == 0 ? Math.Min(record.ValueLength, 4) : record.ValueLength);
        Set(page[(record.Offset + 2)..], 2, record.ValueLength - less);
        Set(page[52..], 2, Get(page[52..], 2) + less);
        return $"{what}: the value loses {less} of its {record.ValueLength} bytes";
    }

    /// <summary>The places of a record in its page.</summary>
    private readonly record struct LeafRecord(int Offset, int KeyLength, int ValueLength)
    {
        public int KeyOffset => Offset + LeafRecordHeader.Size;

        public int ValueOffset => KeyOffset + KeyLength;
    }
}
