using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Trees;

namespace Voron.Salvaging;

/// <summary>Walks a damaged tree from its root, in key order, and skips the lost pages.</summary>
/// <remarks>
/// A page is accepted if it is intact, belongs to the tree, has no owner yet, and contains no key outside the separators that lead to it. A loop,
/// or a page that two branches name, is therefore not walked twice, and an old page that the device has returned is not accepted as a whole.
/// </remarks>
/// <param name="pages">The pages.</param>
/// <param name="owned">The pages that have an owner.</param>
/// <param name="host">Receives the findings.</param>
internal sealed unsafe class TreeWalk(SalvagePages pages, PageBitmap owned, ITreeWalkHost host) : IDisposable
{
    private readonly List<nint> _buffers = [];

    /// <summary>Walks the pages below a page.</summary>
    /// <param name="root">The page.</param>
    /// <param name="treeMark">The mark of its pages: <see cref="PageHeader.TreeMark"/>; 0 for any.</param>
    /// <param name="stop">Ends the walk.</param>
    /// <exception cref="OperationCanceledException">The walk was cancelled.</exception>
    public void Run(long root, uint treeMark, CancellationToken stop) => Walk(root, treeMark, null, null, 0, stop);

    public void Dispose()
    {
        foreach (var buffer in _buffers)
            EngineMemory.FreeAligned((void*)buffer);
        _buffers.Clear();
    }

    private void Walk(long page, uint treeMark, byte[]? low, byte[]? high, int level, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var bytes = Buffer(level);
        if (FindFault(page, treeMark, low, high, level, bytes) is { } fault)
        {
            host.Lose(new LostKeys(low, high, page, fault));
            return;
        }

        owned.Set(page);
        if (TreePageView.IsLeaf(bytes))
        {
            host.TakeLeaf(bytes);
            return;
        }

        var count = TreePageView.Count(bytes);
        var from = low;
        for (var i = 0; i < count; i++)
        {
            var to = i + 1 < count ? TreePageView.Key(bytes, i + 1, pages.PageSize).ToArray() : high;
            Walk(TreePageView.Child(bytes, i, pages.PageSize), treeMark, from, to, level + 1, stop);
            from = to;
        }
    }

    private string? FindFault(long page, uint treeMark, byte[]? low, byte[]? high, int level, byte* bytes)
    {
        if (level >= StateStructure.MaxDepth)
            return $"{pages.Describe(page)} is below {level} others, and no tree has as many levels.";
        if (page > 0 && page < pages.Capacity && owned.IsSet(page))
            return Note(page, $"{pages.Describe(page)} is named twice.");
        if (pages.TryRead(page, bytes) is { } fault)
            return fault;
        var header = (PageHeader*)bytes;
        if (!TreePageView.IsOfTree(header->Kind))
            return Note(page, $"{pages.Describe(page)} is of kind {header->Kind}, not a page of a tree.", "Leaf, Branch or Array", header->Kind.ToString());
        if (treeMark != 0 && header->TreeMark != 0 && header->TreeMark != treeMark)
        {
            var (expected, actual) = ($"{treeMark - 1}", $"{header->TreeMark - 1}");
            return Note(page, $"{pages.Describe(page)} belongs to the tree with id {actual}, not to that with id {expected}.", expected, actual);
        }

        if (!TryGetEnds(bytes, out var first, out var last))
            return null;
        if (low != null && first.SequenceCompareTo(low) < 0)
            return NoteKey(page, "keys below the separator that leads to it", low, first);
        return high != null && last.SequenceCompareTo(high) >= 0 ? NoteKey(page, "keys that are not below the separator that follows it", high, last) : null;
    }

    // The first entry of a branch has no separator, and may be the only one.
    private bool TryGetEnds(byte* bytes, out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> last)
    {
        var count = TreePageView.Count(bytes);
        var isLeaf = TreePageView.IsLeaf(bytes);
        first = last = default;
        if (!isLeaf && count == 1)
            return false;
        first = TreePageView.Key(bytes, isLeaf ? 0 : 1, pages.PageSize);
        last = TreePageView.Key(bytes, count - 1, pages.PageSize);
        return true;
    }

    private string NoteKey(long page, string what, ReadOnlySpan<byte> separator, ReadOnlySpan<byte> key)
    {
        var (expected, actual) = (KeyText.Of(separator), KeyText.Of(key));
        return Note(page, $"{pages.Describe(page)} has {what}: {actual}, with separator {expected}.", expected, actual);
    }

    private string Note(long page, string fault, string? expected = null, string? actual = null)
    {
        pages.NoteDamage(page, fault, expected, actual);
        return fault;
    }

    private byte* Buffer(int level)
    {
        while (_buffers.Count <= level)
            _buffers.Add((nint)EngineMemory.AllocateAligned((nuint)pages.PageSize, 4096));
        return (byte*)_buffers[level];
    }
}

/// <summary>Receives the findings of a tree walk, in key order.</summary>
internal unsafe interface ITreeWalkHost
{
    /// <summary>Receives a leaf, whose memory is valid until the call returns.</summary>
    void TakeLeaf(byte* leaf);

    /// <summary>Receives a range of keys of which nothing was found.</summary>
    /// <param name="range">The range.</param>
    void Lose(LostKeys range);
}

/// <summary>A range of keys whose page is lost.</summary>
/// <param name="Low">The separator before the page; null if the range has no lower end.</param>
/// <param name="High">The separator after the page; null if the range has no upper end.</param>
/// <param name="Page">The page.</param>
/// <param name="Reason">A sentence that describes its fault.</param>
internal sealed record LostKeys(byte[]? Low, byte[]? High, long Page, string Reason)
{
    /// <summary>The number of entries of the range that were found elsewhere.</summary>
    public long Found { get; set; }

    /// <summary>False if the range is below an unreachable page, so that its ends may be missing.</summary>
    public bool IsRoom { get; init; } = true;

    public bool Contains(ReadOnlySpan<byte> key) =>
        (Low == null || key.SequenceCompareTo(Low) >= 0) && (High == null || key.SequenceCompareTo(High) < 0);
}
