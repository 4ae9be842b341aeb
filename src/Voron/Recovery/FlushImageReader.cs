using Voron.Format;
using Voron.Journal;

namespace Voron.Recovery;

/// <summary>
/// Reads the images of a record one by one. Even malformed bytes cause no access outside the payload and the target.
/// </summary>
internal unsafe ref struct FlushImageReader
{
    private readonly ReadOnlySpan<byte> _payload;
    private readonly long _pageCount;
    private readonly int _pageSize;
    private int _at;

    /// <param name="payload">The payload of the record, uncompressed.</param>
    /// <param name="pageCount">The number of pages as of the flush: images have lower page numbers.</param>
    /// <param name="pageSize">The size of a page in bytes.</param>
    public FlushImageReader(ReadOnlySpan<byte> payload, long pageCount, int pageSize)
    {
        _payload = payload;
        _pageCount = pageCount;
        _pageSize = pageSize;
    }

    /// <summary>True when all bytes have been read.</summary>
    public readonly bool IsAtEnd => _at == _payload.Length;

    /// <summary>Reconstructs the next page. Returns false if the next bytes are not an image of a page.</summary>
    /// <param name="target">Memory for a page; its content is overwritten, even if the result is false.</param>
    /// <param name="page">The page's number.</param>
    public bool TryRead(byte* target, out long page)
    {
        page = -1;
        PageEntry entry;
        int size;
        fixed (byte* payload = _payload)
        {
            if (!PageEntry.TryRead(payload + _at, _payload.Length - _at, out entry, out size))
                return false;
        }

        if (entry.Kind != PageEntryKind.Zeros || entry.Pages != 1 || entry.Page >= _pageCount)
            return false;

        var content = _payload.Slice(_at + size, (int)entry.Length);

        new Span<byte>(target, _pageSize).Clear();
        if (!PageDiff.TryApply(content, target, _pageSize))
            return false;
        _at += size + content.Length;
        page = entry.Page;
        return true;
    }
}
