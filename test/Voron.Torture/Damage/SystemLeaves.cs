using System.Buffers.Binary;
using System.Text;
using Voron.Format;
using Voron.Torture.Recorded;
using Voron.Trees;

namespace Voron.Torture.Damage;

/// <summary>Finds the leaves of the trees of tables, feeds and dictionaries, and of the tree with compressed values, in a data file.</summary>
internal static class SystemLeaves
{
    /// <summary>Returns the pages of each tree that has any, by the description of the tree.</summary>
    public static IReadOnlyList<(string Tree, IReadOnlyList<long> Pages)> Find(ForgedStore store)
    {
        var names = new Dictionary<uint, string>();
        var leaves = new List<long>();
        for (var page = 3L; page < store.PageCount; page++)
        {
            // The inside of a large value may look like a leaf, but not with that number.
            if (store.Page(page) is not { Kind: PageKind.Leaf, EntryCount: > 0 } header || header.PageNumber != page)
                continue;
            leaves.Add(page);
            AddNames(names, store.PageBytes(page));
        }

        return
        [
            .. leaves.GroupBy(page => names.GetValueOrDefault(store.Page(page).TreeMark)).Where(pages => pages.Key != null)
                .OrderBy(pages => pages.Key, StringComparer.Ordinal).Select(pages => (pages.Key!, (IReadOnlyList<long>)[.. pages])),
        ];
    }

    // No key of a user begins with the mark of system trees.
    private static void AddNames(Dictionary<uint, string> names, ReadOnlySpan<byte> page)
    {
        var count = BinaryPrimitives.ReadUInt16LittleEndian(page[48..]);
        for (var i = 0; i < count; i++)
        {
            var record = page[BinaryPrimitives.ReadUInt16LittleEndian(page[(PageHeader.Size + (2 * i))..])..];
            var name = record.Slice(LeafRecordHeader.Size, BinaryPrimitives.ReadUInt16LittleEndian(record) & LeafRecordHeader.KeyLengthMask);
            if (!IsForged(name))
                continue;
            var header = record[(LeafRecordHeader.Size + name.Length)..];
            if (BinaryPrimitives.ReadUInt16LittleEndian(record[2..]) == TreeHeader.Size && SystemTree.Kind(name) == TreeKind.Plain)
                names[BinaryPrimitives.ReadUInt32LittleEndian(header[44..]) + 1] = Describe(name);
        }
    }

    private static bool IsForged(ReadOnlySpan<byte> name) =>
        SystemTree.IsOfTables(name) || SystemTree.IsOfFeeds(name) || SystemTree.IsDictionaries(name) || IsCompressed(name);

    private static bool IsCompressed(ReadOnlySpan<byte> name) => name.SequenceEqual(Encoding.UTF8.GetBytes(RecordedStore.TreeName));

    private static string Describe(ReadOnlySpan<byte> name) => IsCompressed(name) ? RecordedStore.TreeName : SystemTree.Describe(name);
}
