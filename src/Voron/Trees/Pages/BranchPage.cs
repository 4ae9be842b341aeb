using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Trees.Pages;

/// <summary>Reads and writes the records of a branch.</summary>
internal unsafe struct BranchPage : IRecordLayout
{
    public static int KeyOffset => BranchRecordHeader.Size;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int RecordSize(byte* record) => BranchRecordHeader.Size + KeyLength(record);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int KeyLength(byte* record) => ((BranchRecordHeader*)record)->KeyLength;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* KeyBytes(byte* record) => record + BranchRecordHeader.Size;

    public static ReadOnlySpan<byte> Key(byte* record) => new(KeyBytes(record), KeyLength(record));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PageNumber Child(byte* page, int index) =>
        new(((BranchRecordHeader*)SlottedPage.Record(page, index))->Child);

    /// <summary>Returns the index of the child whose range contains the key.</summary>
    public static int Search(byte* page, in SearchKey key)
    {
        // Entry 0 has no separator: all keys below the first separator belong to it.
        var index = PageSearch.Find<BranchPage>(page, 1, key);
        return index >= 0 ? index : ~index - 1;
    }

    /// <summary>
    /// Like <see cref="Search"/>, for a key known to be above the first <paramref name="low"/> separators and below those from
    /// <paramref name="high"/> on. Separator i is that of entry i + 1.
    /// </summary>
    public static int SearchBetween(byte* page, in SearchKey key, int low, int high)
    {
        while (low < high)
        {
            var middle = (low + high) >>> 1;
            var record = SlottedPage.Record(page, middle + 1);
            if (key.CompareStored(KeyBytes(record), KeyLength(record)) <= 0)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>Adds an entry if there is room.</summary>
    public static bool TryInsert(in WritablePage page, int pageSize, int index, byte* key, int keyLength, PageNumber child)
    {
        var offset = SlottedPage.MakeRoom<BranchPage>(page, pageSize, BranchRecordHeader.Size + keyLength, newSlot: true);
        if (offset == 0)
            return false;

        WriteRecord(page, offset, key, keyLength, child);
        SlottedPage.InsertSlot(page, index, offset);
        return true;
    }

    /// <summary>Removes the separator of entry 0, which became the first entry because the one before it was removed.</summary>
    public static void DropFirstKey(in WritablePage page, int pageSize)
    {
        int offset = SlottedPage.Slots(page.Bytes)[0];
        var record = (BranchRecordHeader*)(page.Bytes + offset);
        int length = record->KeyLength;
        if (length == 0)
            return;

        record->KeyLength = 0;
        page.MarkDirty(offset, sizeof(ushort));
        SlottedPage.AddHole(page, pageSize, offset + BranchRecordHeader.Size, length);
    }

    /// <summary>Sets the page number of a moved child.</summary>
    public static void SetChild(in WritablePage page, int index, PageNumber child)
    {
        var record = (BranchRecordHeader*)SlottedPage.Record(page.Bytes, index);
        record->Child = child.Value;
        page.MarkDirty((int)((byte*)&record->Child - page.Bytes), sizeof(long));
    }

    private static void WriteRecord(in WritablePage page, int offset, byte* key, int keyLength, PageNumber child)
    {
        page.MarkDirty(offset, BranchRecordHeader.Size + keyLength);
        var record = (BranchRecordHeader*)(page.Bytes + offset);
        record->KeyLength = (ushort)keyLength;
        record->Child = child.Value;
        Unsafe.CopyBlockUnaligned((byte*)record + BranchRecordHeader.Size, key, (uint)keyLength);
    }
}
