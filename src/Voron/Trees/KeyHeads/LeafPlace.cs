using Voron.Trees.Pages;

namespace Voron.Trees.KeyHeads;

/// <summary>The range of records in a leaf that includes the record of a key, if the leaf contains the key.</summary>
internal unsafe struct LeafPlace
{
    /// <summary>The index of the first record that can have the key.</summary>
    public int Low;

    /// <summary>
    /// The index of the last record that can have the key; it may exceed the leaf's last index. If it is below <see cref="Low"/>, the leaf does not
    /// contain the key.
    /// </summary>
    public int High;

    /// <summary>The first record with the same head, or null.</summary>
    public byte* Record;

    /// <summary>Returns the record with the key, or null.</summary>
    public readonly byte* Resolve(byte* leaf, in SearchKey key)
    {
        if (Low == High && Record != null)
            return key.CompareStored(Record + LeafPage.KeyOffset, LeafPage.KeyLength(Record)) == 0 ? Record : null;
        if (Low > High)
            return null;
        var index = PageSearch.FindBetween<LeafPage>(leaf, Low, Math.Min(High, SlottedPage.Count(leaf) - 1), key);
        return index < 0 ? null : SlottedPage.Record(leaf, index);
    }
}
