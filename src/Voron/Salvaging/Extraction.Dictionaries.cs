using Voron.Format;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <content>The dictionaries of compressed values, which are found before the values.</content>
internal sealed unsafe partial class Extraction
{
    private readonly SalvagedDictionaries _dictionaries = new();
    private readonly Queue<TreeFindings> _unwalkedDictionaries = [];

    private void AddDictionaries(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        _catalog.Count(_grade);
        var tree = new TreeFindings(SystemTree.Describe(name), header, header.TreeId) { IsLeftBehind = true, HasDictionaries = true };
        if (!_treesById.TryAdd(header.TreeId, tree))
            return;
        TreesLeftBehind++;
        _unwalkedDictionaries.Enqueue(tree);
    }

    private void TakeDictionaries(byte* leaf, long version)
    {
        for (var i = 0; i < SlottedPage.Count(leaf); i++)
        {
            var record = SlottedPage.Record(leaf, i);
            if (LeafPage.KeyLength(record) == 1 && LeafPage.Kind(record) is ValueKind.Inline or ValueKind.Overflow
                && _value.TryOpen(record, version, treeId: null) == null && _value.Length <= ValueSource.PieceBytes
                && _value.TryRead(0, out var bytes) == null)
                _dictionaries.Add(LeafPage.Key(record), bytes);
        }
    }

    // An entry names the tree of its dictionary, so no catalog is needed.
    private void TakeOrphanedDictionaries(PageCensus census, IEnumerable<long> roots, PageBuffer page)
    {
        _value.IsPeeking = true;
        foreach (var root in roots)
        {
            _stop.ThrowIfCancellationRequested();
            if (!_owned.IsSet(root) && census.TryRead(root, page.Bytes, out var grade) && page.Header->Kind == PageKind.Leaf)
                TakeDictionaries(page.Bytes, grade == SalvageGrade.Stale ? page.Header->TransactionId : long.MaxValue);
        }

        _value.IsPeeking = false;
    }
}
