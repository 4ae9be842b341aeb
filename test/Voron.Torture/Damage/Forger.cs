using System.Buffers.Binary;
using Voron.Format;

namespace Voron.Torture.Damage;

/// <summary>Changes fields of the format to values that they should never have, and sometimes just random bytes.</summary>
internal sealed partial class Forger(ForgedStore store, Random random)
{
    /// <summary>Numbers at the edge of a range.</summary>
    private static readonly long[] Edges =
    [
        0, 1, 2, 3, -1, -2, 63, 64, 127, 128, 255, 256, 4095, 4096, 4097, 16383, 32767, 32768, 65535, 65536, int.MaxValue,
        1L << 31, uint.MaxValue, 1L << 32,
        long.MaxValue, long.MinValue, long.MaxValue / 2, (long.MaxValue / 2) + 1, long.MaxValue / 4096, (1L << 56) - 1, (1L << 40) - 1,
    ];

    /// <summary>Makes a change, or several, and returns a description.</summary>
    public string Change()
    {
        if (store.SystemLeaves.Count > 0 && random.Next(4) > 0)
            return ChangeSystemRecord();
        switch (random.Next(23))
        {
            case 0:
                return ChangeHeader();
            case 1:
                return ChangeJournalHeader();
            case 2:
            case 3:
                return ChangeRecord();
            case 4:
            case 5:
                return ChangePayload();
            case 6:
                return ChangePageHeader();
            case 7:
                return ChangeSlot();
            case 8:
            case 9:
                return ChangeTreeRecord();
            case 10:
                return LinkElsewhere();
            case 11:
                return CopyPage();
            case 12:
                return ChangeMap();
            case 13:
            case 14:
                return ChangeTreeHeader();
            case 15:
            case 16:
                return ChangeArrayPage();
            case 17:
            case 18:
                return ChangeIdPage();
            case > 18 and < 22:
                return ChangeValueSet();
            default:
                return ChangeBytes();
        }
    }

    private string ChangeHeader()
    {
        var field = 16 + (random.Next(78) * 4);
        var size = random.Next(3) == 0 ? 4 : 8;
        var what = "";
        // Mostly both copies are changed: the engine passes over one bad copy if the other is better.
        var slots = random.Next(4) == 0 ? 1 + random.Next(2) : 3;
        long value = 0;
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            if ((slots & (1 << slot)) == 0)
                continue;
            var target = store.Bytes(ForgedStore.HeaderFile)[((slot * JournalFormat.Block) + field)..];
            if (what.Length == 0)
                value = NewValue(Get(target, size));
            Set(target, size, value);
            what = $"header, byte {field}: {size} bytes become {value}";
        }
        return what;
    }

    private string ChangeJournalHeader()
    {
        if (store.Journals.Count == 0)
            return ChangeHeader();
        var name = store.Journals[random.Next(store.Journals.Count)];
        var field = 16 + (random.Next(50) * 4);
        var size = random.Next(2) == 0 ? 4 : 8;
        var value = NewValue(Get(store.Bytes(name)[field..], size));
        Set(store.Bytes(name)[field..], size, value);
        Set(store.Bytes(name)[(JournalFormat.Block + field)..], size, value);
        return $"header of {name}, byte {field}: {size} bytes become {value}";
    }

    private string ChangeRecord()
    {
        if (store.Records.Count == 0)
            return ChangeTreeRecord();
        (var name, var offset) = store.Records[random.Next(store.Records.Count)];
        var field = random.Next(4) == 0 ? 64 + random.Next(4) : 16 + (random.Next(50) * 4);
        var size = field % 4 != 0 || field == 64 ? 1 : random.Next(2) == 0 ? 4 : 8;
        var target = store.Bytes(name)[(offset + field)..];
        var value = NewValue(Get(target, size));
        Set(target, size, value);
        return $"record at {offset} of {name}, byte {field}: {size} bytes become {value}";
    }

    private string ChangePayload()
    {
        if (store.Records.Count == 0)
            return ChangeSlot();
        var record = store.Records[random.Next(store.Records.Count)];
        var header = store.Read(record);
        var payload = store.Payload(record);
        if (payload.Length < 24)
            return ChangeRecord();
        var at = random.Next(payload.Length - 8);
        if (header.Kind == RecordKind.FlushList)
            at = random.Next(payload.Length / 8) * 8;
        else if ((header.Flags & RecordFlags.Compressed) == 0 && random.Next(3) > 0)
            at = EntryAt(payload, random.Next((int)Math.Min(header.EntryCount, 200)));
        var size = 1 << random.Next(4);
        var value = NewValue(Get(payload[at..], size));
        Set(payload[at..], size, value);
        return $"payload of record {header.Sequence} at {record.Offset} of {record.File}, byte {at}: {size} bytes become {value}";
    }

    /// <summary>Returns the beginning of the entry with the given number, or some byte of its first sixteen.</summary>
    private int EntryAt(Span<byte> payload, int number)
    {
        var at = 0;
        for (var i = 0; i < number; i++)
        {
            var size = (payload[at] & CompactPageEntry.Mark) != 0 ? CompactPageEntry.Size : PageEntry.Size;
            if (at + PageEntry.Size >= payload.Length)
                break;
            long length = size == PageEntry.Size
                ? BinaryPrimitives.ReadUInt32LittleEndian(payload[(at + 12)..])
                : BinaryPrimitives.ReadUInt16LittleEndian(payload[(at + 6)..]);
            if (length > payload.Length - at - size - PageEntry.Size)
                break;
            at += size + (int)length;
        }
        return Math.Min(at + random.Next(PageEntry.Size), payload.Length - 8);
    }

    private string ChangePageHeader()
    {
        var page = random.NextInt64(store.PageCount);
        (var field, var size) = random.Next(8) switch
        {
            0 => (32, 8),
            1 => (40, 1),
            2 => (44, 4),
            3 => (48, 2),
            4 => (50, 2),
            5 => (52, 2),
            6 => (56, 8),
            _ => (32 + random.Next(32), 1),
        };
        var target = store.ChangePage(page)[field..];
        var value = NewValue(Get(target, size));
        Set(target, size, value);
        return $"page {page}, byte {field}: {size} bytes become {value}";
    }

    private string ChangeSlot()
    {
        if (!TryTreePage(out var page, out var count))
            return ChangePageHeader();
        var bytes = store.ChangePage(page);
        var slot = PageHeader.Size + (2 * random.Next(count));
        if (random.Next(3) == 0)
        {
            var other = PageHeader.Size + (2 * random.Next(count));
            var first = Get(bytes[slot..], 2);
            Set(bytes[slot..], 2, Get(bytes[other..], 2));
            Set(bytes[other..], 2, first);
            return $"page {page}: the slots at {slot} and {other} change places";
        }
        var value = NewValue(Get(bytes[slot..], 2));
        Set(bytes[slot..], 2, value);
        return $"page {page}: the slot at {slot} becomes {value}";
    }

    /// <summary>Changes lengths, kinds, children and references of a record.</summary>
    private string ChangeTreeRecord()
    {
        if (!TryTreePage(out var page, out var count))
            return ChangePageHeader();
        var bytes = store.ChangePage(page);
        var record = (int)Get(bytes[(PageHeader.Size + (2 * random.Next(count)))..], 2);
        if (record < PageHeader.Size || record > ForgedStore.PageSize - 32)
            return ChangePageHeader();
        int field;
        int size;
        if ((PageKind)bytes[40] == PageKind.Branch)
        {
            (field, size) = random.Next(2) == 0 ? (0, 2) : (2, 8);
        }
        else
        {
            var key = (int)Get(bytes[record..], 2) & LeafRecordHeader.KeyLengthMask;
            (field, size) = random.Next(4) switch
            {
                0 => (0, 2),
                1 => (2, 2),
                2 => (4 + key, 8),
                _ => (12 + key, 8),
            };
        }
        if (record + field + size > ForgedStore.PageSize)
            return ChangePageHeader();
        var value = NewValue(Get(bytes[(record + field)..], size));
        Set(bytes[(record + field)..], size, value);
        return $"page {page}: the record at {record}, byte {field}: {size} bytes become {value}";
    }

    /// <summary>Makes a child or an extent refer to another existing page: cycles, shared pages, pages of other kinds.</summary>
    private string LinkElsewhere()
    {
        for (var attempt = 0; attempt < 20; attempt++)
        {
            if (!TryTreePage(out var page, out var count))
                continue;
            var bytes = store.PageBytes(page);
            var record = (int)Get(bytes[(PageHeader.Size + (2 * random.Next(count)))..], 2);
            if (record < PageHeader.Size || record > ForgedStore.PageSize - 32)
                continue;
            var field = 2;
            if ((PageKind)bytes[40] == PageKind.Leaf)
            {
                var head = (int)Get(bytes[record..], 2);
                field = 4 + (head & LeafRecordHeader.KeyLengthMask);
                if (head >> LeafRecordHeader.KindShift == 0)
                    continue;
            }
            if (record + field + 8 > ForgedStore.PageSize)
                continue;
            var target = random.Next(4) == 0 ? page : random.NextInt64(store.PageCount);
            Set(store.ChangePage(page)[(record + field)..], 8, target);
            return $"page {page}: the record at {record} leads to page {target}";
        }
        return ChangeTreeRecord();
    }

    /// <summary>Gives a page the content of another, under its own number.</summary>
    private string CopyPage()
    {
        var source = random.NextInt64(store.PageCount);
        var target = random.NextInt64(store.PageCount);
        store.PageBytes(source).CopyTo(store.ChangePage(target));
        if (random.Next(8) > 0)
            Set(store.ChangePage(target)[32..], 8, target);
        return $"page {target} has the content of page {source}";
    }

    private string ChangeMap()
    {
        var page = random.NextInt64(3);
        var bytes = store.ChangePage(page);
        var field = random.Next(3) switch
        {
            0 => 64 + random.Next(160),
            1 => 64 + (8 * random.Next(4)),
            _ => new SectionMapLayout(ForgedStore.PageSize).CountsOffset + (2 * random.Next(3)),
        };
        var size = page < 2 ? 8 : 1 + random.Next(2);
        var value = NewValue(Get(bytes[field..], size));
        Set(bytes[field..], size, value);
        return $"page {page} of the section map, byte {field}: {size} bytes become {value}";
    }

    /// <summary>Changes a tree header, in the catalog or, for the catalog itself, in the state.</summary>
    private string ChangeTreeHeader()
    {
        (var field, var size) = random.Next(8) switch
        {
            < 5 and var word => (8 * word, 8),
            5 or 6 => (40, 2),
            _ => (44, 4),
        };
        for (var attempt = 0; attempt < 30; attempt++)
        {
            var page = random.NextInt64(3, store.PageCount);
            var bytes = store.PageBytes(page);
            if ((PageKind)bytes[40] != PageKind.Leaf)
                continue;
            var count = (int)Get(bytes[48..], 2);
            var record = count is > 0 and < 100 ? (int)Get(bytes[(PageHeader.Size + (2 * random.Next(count)))..], 2) : 0;
            if (record < PageHeader.Size || record > ForgedStore.PageSize - 4 || Get(bytes[(record + 2)..], 2) != TreeHeader.Size)
                continue;
            var at = record + 4 + ((int)Get(bytes[record..], 2) & LeafRecordHeader.KeyLengthMask) + field;
            if (at + size > ForgedStore.PageSize)
                continue;
            var value = NewValue(Get(bytes[at..], size));
            Set(store.ChangePage(page)[at..], size, value);
            return $"page {page}: a tree header at {at - field}, byte {field}: {size} bytes become {value}";
        }
        var old = Get(store.Bytes(ForgedStore.HeaderFile)[(80 + field)..], size);
        var next = NewValue(old);
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
            Set(store.Bytes(ForgedStore.HeaderFile)[((slot * JournalFormat.Block) + 80 + field)..], size, next);
        return $"the catalog's tree header, byte {field}: {size} bytes become {next}";
    }

    private string ChangeBytes()
    {
        var page = random.NextInt64(store.PageCount);
        var bytes = store.ChangePage(page);
        var from = random.Next(32, ForgedStore.PageSize);
        var length = Math.Min(1 + random.Next(40), ForgedStore.PageSize - from);
        random.NextBytes(bytes.Slice(from, length));
        return $"page {page}: {length} bytes from {from} on are random";
    }

    private bool TryTreePage(out long page, out int count)
    {
        for (var attempt = 0; attempt < 20; attempt++)
        {
            page = random.NextInt64(3, store.PageCount);
            var header = store.Page(page);
            count = Math.Min((int)header.EntryCount, 1000);
            // There are many leaves, but the branches lead to other pages.
            if (count > 0 && header.Kind == PageKind.Branch)
                return true;
            if (count > 0 && header.Kind == PageKind.Leaf && (attempt > 10 || random.Next(3) == 0))
                return true;
        }
        page = 0;
        count = 0;
        return false;
    }

    private long NewValue(long old) => random.Next(8) switch
    {
        0 or 1 => Edges[random.Next(Edges.Length)],
        2 => old + 1,
        3 => old - 1,
        4 => old ^ (1L << random.Next(64)),
        5 => random.NextInt64(store.PageCount + 2),
        6 => old + random.Next(-100, 100),
        _ => random.NextInt64(1L << (1 + random.Next(40))),
    };

    private static long Get(ReadOnlySpan<byte> bytes, int size) => size switch
    {
        1 => bytes[0],
        2 => BinaryPrimitives.ReadUInt16LittleEndian(bytes),
        4 => BinaryPrimitives.ReadUInt32LittleEndian(bytes),
        _ => BinaryPrimitives.ReadInt64LittleEndian(bytes),
    };

    private static void Set(Span<byte> bytes, int size, long value)
    {
        switch (size)
        {
            case 1:
                bytes[0] = (byte)value;
                break;
            case 2:
                BinaryPrimitives.WriteUInt16LittleEndian(bytes, (ushort)value);
                break;
            case 4:
                BinaryPrimitives.WriteUInt32LittleEndian(bytes, (uint)value);
                break;
            default:
                BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
                break;
        }
    }
}
