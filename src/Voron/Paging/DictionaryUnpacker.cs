using Voron.Compression;
using Voron.Format;

namespace Voron.Paging;

/// <summary>Finds dictionaries for a transaction.</summary>
/// <param name="pages">The pages of the transaction.</param>
/// <param name="dictionaries">The dictionaries of the environment.</param>
internal sealed class DictionaryUnpacker(PageReader pages, ValueDictionaries dictionaries) : ValueUnpacker(dictionaries.ArenaMemory)
{
    private ValueDictionary? _last;
    private uint _lastTree;

    /// <summary>Returns the catalog as the transaction sees it. Set by the owner of the pages.</summary>
    public Func<TreeHeader>? Catalog { get; set; }

    /// <summary>Ends the transaction: reclaims the memory of its values, and holds no dictionary outside the cache.</summary>
    public void End()
    {
        Arena.Reset();
        _last = null;
    }

    /// <inheritdoc/>
    public override bool IsStored(uint treeId, int number) => dictionaries.Read(pages, Catalog!(), treeId, number) != null;

    /// <inheritdoc/>
    public override ValueDictionary? Find(uint treeId, int number)
    {
        if (_last is { } last && last.Number == number && _lastTree == treeId)
            return last;
        var found = dictionaries.Find(pages, Catalog!(), treeId, number);
        if (found != null)
            (_last, _lastTree) = (found, treeId);
        return found;
    }
}
