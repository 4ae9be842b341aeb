using Voron.Format;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Trees.IdSets.Pages;

/// <summary>The marks in the page headers of a set, which show where the pages belong when a damaged file is searched.</summary>
/// <param name="TreeMark">The mark of the tree: <see cref="PageHeader.TreeMark"/>.</param>
/// <param name="OwnerHash">The hash of the key that owns the set: <see cref="PageHeader.OwnerHash"/>.</param>
internal readonly unsafe record struct IdSetMarks(uint TreeMark, uint OwnerHash)
{
    private const int Offset = 56;

    /// <summary>Returns the marks of the set of a key.</summary>
    public static IdSetMarks Of(PageWriter writer, uint treeId, ReadOnlySpan<byte> key) => new(writer.TreeMark(treeId), Hash(key));

    /// <summary>Returns the hash of a key: the lower half of its checksum, but never 0.</summary>
    public static uint Hash(ReadOnlySpan<byte> key) => Math.Max(1, (uint)Checksum.Compute(key, seed: 0));

    /// <summary>Checks the marks of a page before it is changed, freed or moved: a damaged link may lead to a page of another set.</summary>
    /// <exception cref="CorruptionException">The page belongs to another set or tree.</exception>
    public void Check(PageReader reader, byte* page, PageNumber number)
    {
        if (((PageHeader*)page)->TreeMark != TreeMark || ((PageHeader*)page)->OwnerHash != OwnerHash)
            IdSetErrors.ThrowOwner(reader, number);
    }

    public void Write(in WritablePage page)
    {
        page.Header->TreeMark = TreeMark;
        page.Header->OwnerHash = OwnerHash;
        page.MarkDirty(Offset, sizeof(long));
    }
}
