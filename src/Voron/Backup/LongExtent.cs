using Voron.Format;

namespace Voron.Backup;

/// <summary>The progress of an overflow extent that is copied in several batches: the next page, and the checksum so far.</summary>
internal unsafe struct LongExtent
{
    private Checksum.Stream _checksum;
    private ulong _expected;
    private bool _hasSpareBytes;

    public LongExtent(long first, long pages)
    {
        First = Next = first;
        Pages = pages;
        IsActive = true;
        _checksum = new Checksum.Stream();
    }

    /// <summary>True while an extent is being copied.</summary>
    public bool IsActive { get; }

    public long First { get; }

    public long Pages { get; }

    /// <summary>The next page to be copied.</summary>
    public long Next { get; private set; }

    public readonly long End => First + Pages;

    /// <summary>Adds the next pages, complete, as stored in the data file.</summary>
    /// <param name="bytes">The pages.</param>
    /// <param name="pages">Their number.</param>
    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="hasHint">True if the first page may have a <see cref="PageHeader.TransactionId"/>.</param>
    public void Add(byte* bytes, int pages, int pageSize, bool hasHint)
    {
        var length = (long)pages * pageSize;
        if (Next == First)
        {
            _hasSpareBytes = PageHeader.HasSpareBytes(bytes, First, hasHint);
            _expected = ((PageHeader*)bytes)->Checksum;
            bytes += PageHeader.UnjournaledBytes;
            length -= PageHeader.UnjournaledBytes;
        }

        _checksum.Add(bytes, (nuint)length);
        Next += pages;
    }

    /// <summary>Returns whether the pages match the checksum in the first page, and the bytes that it does not cover are zero.</summary>
    public readonly bool IsSound(ulong seed) => !_hasSpareBytes && _checksum.Finish(seed) == _expected;
}
