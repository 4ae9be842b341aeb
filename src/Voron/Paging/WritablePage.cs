using Voron.Format;

namespace Voron.Paging;

/// <summary>A page that may be changed in place until the transaction's next savepoint or end.</summary>
/// <remarks>
/// Code that changes bytes must mark them: the journal compares marked lines only. A line is a 64th of the page, which is 64 bytes of a
/// 4 KiB page. Pages that are new in the transaction are journaled in full; marking them does no harm.
/// </remarks>
internal readonly unsafe struct WritablePage
{
    private readonly ulong* _dirtyLines;
    private readonly int _lineShift;

    public WritablePage(byte* bytes, ulong* dirtyLines, int lineShift)
    {
        Bytes = bytes;
        _dirtyLines = dirtyLines;
        _lineShift = lineShift;
    }

    public readonly byte* Bytes;

    public PageHeader* Header => (PageHeader*)Bytes;

    /// <summary>Marks bytes from <paramref name="offset"/> on that are about to change or have changed. Length 0 marks nothing.</summary>
    public void MarkDirty(int offset, int length)
    {
        if (length <= 0)
            return;

        var first = offset >> _lineShift;
        var last = (offset + length - 1) >> _lineShift;
        *_dirtyLines |= (ulong.MaxValue >> (63 - (last - first))) << first;
    }
}
