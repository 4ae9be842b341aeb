using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>A value stored in pages of its own, as a snapshot or the open transaction sees it.</summary>
/// <param name="Kind">The kind: overflow or large extent.</param>
/// <param name="First">The first page.</param>
/// <param name="Length">The length in bytes.</param>
/// <param name="Checksums">The checksum of a large extent, or the first page of its checksum extent.</param>
/// <param name="Address">
/// The address of an overflow extent's first page, which differs between versions of the extent. Zero before
/// <see cref="WithAddress"/>, and for a large extent.
/// </param>
internal readonly unsafe record struct FoundValue(ValueKind Kind, long First, long Length, ulong Checksums, nint Address)
{
    private LargeExtentReference Reference => new() { FirstPage = First, Length = Length, Checksums = Checksums };

    /// <summary>The highest page of the value, in either of its extents.</summary>
    public long LastPage(int pageSize)
    {
        if (Kind == ValueKind.Overflow)
            return First + TreeLimits.OverflowPages(pageSize, Length) - 1;
        var last = First + LargeValues.PageCount(pageSize, Length) - 1;
        var checksums = Reference.ChecksumPage;
        return checksums == 0
            ? last
            : Math.Max(last, checksums + TreeLimits.OverflowPages(pageSize, LargeValues.ChunkCount(Length) * sizeof(ulong)) - 1);
    }

    /// <summary>Finds the value of a key; null if the key does not exist, or its value has no pages of its own.</summary>
    public static FoundValue? Find(PageReader reader, TreeState state, ReadOnlySpan<byte> key)
    {
        var record = TreeReader.Find(state, reader, key);
        return record == null ? null : Of(reader, record);
    }

    /// <summary>Returns the value of a cursor's entry; null if it is stored in the leaf.</summary>
    /// <exception cref="CorruptionException">The record describes an impossible value.</exception>
    public static FoundValue? Of(PageReader reader, TreeCursor cursor) => Of(reader, cursor.Record);

    private static FoundValue? Of(PageReader reader, byte* record)
    {
        FoundValue found;
        var overflow = LeafPage.Overflow(record);
        if (overflow != null)
        {
            found = new FoundValue(ValueKind.Overflow, overflow->FirstPage, overflow->Length, 0, 0);
        }
        else if (LeafPage.Kind(record) == ValueKind.LargeExtent)
        {
            var large = *(LargeExtentReference*)LeafPage.InlineBytes(record);
            found = new FoundValue(ValueKind.LargeExtent, large.FirstPage, large.Length, large.Checksums, 0);
        }
        else
        {
            return null;
        }

        if (found.Length is < 0 or > int.MaxValue || found.First <= 0 || found.LastPage(reader.PageSize) >= reader.PageCount)
        {
            throw new CorruptionException(
                $"Key {KeyText.Of(LeafPage.Key(record))} has a value of {found.Length} bytes at page {found.First} of '{reader.FilePath}', " +
                $"which does not fit into its {reader.PageCount} pages.");
        }

        return found;
    }

    /// <summary>Returns the value with its address, which distinguishes two versions of an overflow extent.</summary>
    public FoundValue WithAddress(PageReader reader) =>
        Kind == ValueKind.Overflow ? this with { Address = (nint)TreePages.ReadExtent(reader, new PageNumber(First), Length) } : this;

    /// <summary>Returns a verified part of the value.</summary>
    public ReadOnlySpan<byte> Read(PageReader reader, long offset, int count) => Kind == ValueKind.LargeExtent
        ? reader.ReadLarge(Reference, offset, count)
        : new ReadOnlySpan<byte>(TreePages.ReadExtent(reader, new PageNumber(First), Length) + PageHeader.Size + offset, count);

    /// <summary>Verifies the overflow extent, or the checksum extent of a large extent, on the device, even if it was verified before.</summary>
    /// <exception cref="CorruptionException">The extent is damaged.</exception>
    public void VerifyHead(PageReader reader, DataFile file)
    {
        var head = new PageNumber(Kind == ValueKind.Overflow ? First : Reference.ChecksumPage);
        if (reader.DataFilePage(head) != null)
            file.Verify(head.Value);
    }

    /// <summary>Verifies a part of a large extent on the device, even if it was verified before. Does nothing for an overflow extent.</summary>
    /// <exception cref="CorruptionException">The part is damaged.</exception>
    public void VerifyPart(PageReader reader, DataFile file, long offset, int count)
    {
        if (Kind == ValueKind.LargeExtent)
            LargeValues.Verify(file, Reference, LargeValueReader.Checksums(reader, Reference), offset, count, always: true);
    }

    /// <summary>Returns the checksum of a chunk at its current place.</summary>
    public ulong ChecksumOf(PageReader reader, int chunk) => LargeValueReader.Checksums(reader, Reference)[chunk];
}
