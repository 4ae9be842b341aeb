using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Puts records into leaves.</summary>
internal static unsafe class LeafEditor
{
    /// <summary>
    /// Places a record with the key and room for its value: in the entry at <see cref="LeafTarget.Index"/> if that is not negative, otherwise in a
    /// new entry at its complement. Splits the leaf if necessary.
    /// </summary>
    /// <returns>The address at which the caller writes the value. Its bytes are already marked as dirty.</returns>
    public static byte* Place(in LeafTarget edit, ValueKind kind, int inlineLength)
    {
        ref readonly var leaf = ref edit.Leaf;
        var index = edit.Index;
        var pageSize = edit.Pages.PageSize;
        var size = LeafRecordHeader.Size + edit.Key.Length + inlineLength;
        int offset;
        if (index >= 0)
        {
            var record = SlottedPage.Record(leaf.Bytes, index);
            if (inlineLength <= LeafPage.InlineLength(record))
                return Overwrite(leaf, pageSize, record, kind, inlineLength);

            SlottedPage.Release<LeafPage>(leaf, pageSize, index);
            offset = SlottedPage.MakeRoom<LeafPage>(leaf, pageSize, size, newSlot: false);
            if (offset != 0)
            {
                SlottedPage.SetSlot(leaf, index, offset);
                return WriteRecord(leaf, offset, edit.Key, kind, inlineLength);
            }

            SlottedPage.RemoveReleased(leaf, index);
        }
        else
        {
            index = ~index;
            var place = TryInsert(leaf, pageSize, index, edit.Key, kind, inlineLength);
            if (place != null)
                return place;
        }

        return Split(edit, index, kind, inlineLength);
    }

    /// <summary>Places a record in a new entry; returns null, with nothing changed, if the leaf has no room for it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* TryInsert(in WritablePage leaf, int pageSize, int index, in SearchKey key, ValueKind kind, int inlineLength)
    {
        var size = LeafRecordHeader.Size + key.Length + inlineLength;
        var offset = SlottedPage.MakeRoom<LeafPage>(leaf, pageSize, size, newSlot: true);
        if (offset == 0)
            return null;
        SlottedPage.InsertSlot(leaf, index, offset);
        return WriteRecord(leaf, offset, key, kind, inlineLength);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte* Split(in LeafTarget edit, int index, ValueKind kind, int inlineLength)
    {
        var size = LeafRecordHeader.Size + edit.Key.Length + inlineLength;
        WritablePage target;
        if (edit.Path.LeafLevel < 0)
        {
            TreeReader.Descend(edit.State, edit.Pages, edit.Key, out var wholePath);
            target = PageSplitter.SplitLeaf(edit, wholePath, size, ref index);
        }
        else
        {
            target = PageSplitter.SplitLeaf(edit, edit.Path, size, ref index);
        }

        var place = TryInsert(target, edit.Pages.PageSize, index, edit.Key, kind, inlineLength);
        System.Diagnostics.Debug.Assert(place != null, "A split must leave room for the record on its side.");
        return place;
    }

    private static byte* Overwrite(in WritablePage leaf, int pageSize, byte* record, ValueKind kind, int inlineLength)
    {
        var header = (LeafRecordHeader*)record;
        var keyLength = LeafPage.KeyLength(record);
        var spare = header->InlineLength - inlineLength;
        var offset = (int)(record - leaf.Bytes);
        if (spare != 0 || LeafPage.Kind(record) != kind)
        {
            header->KeyLengthAndKind = LeafPage.LengthAndKind(keyLength, kind);
            header->InlineLength = (ushort)inlineLength;
            leaf.MarkDirty(offset, LeafRecordHeader.Size);
        }

        var value = offset + LeafRecordHeader.Size + keyLength;
        if (spare != 0)
            SlottedPage.AddHole(leaf, pageSize, value + inlineLength, spare);
        leaf.MarkDirty(value, inlineLength);
        return leaf.Bytes + value;
    }

    private static byte* WriteRecord(in WritablePage leaf, int offset, in SearchKey key, ValueKind kind, int inlineLength)
    {
        leaf.MarkDirty(offset, LeafRecordHeader.Size + key.Length + inlineLength);
        var record = leaf.Bytes + offset;
        ((LeafRecordHeader*)record)->KeyLengthAndKind = LeafPage.LengthAndKind(key.Length, kind);
        ((LeafRecordHeader*)record)->InlineLength = (ushort)inlineLength;
        Unsafe.CopyBlockUnaligned(LeafPage.KeyBytes(record), key.Bytes, (uint)key.Length);
        return LeafPage.KeyBytes(record) + key.Length;
    }
}
