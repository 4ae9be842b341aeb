using System.Globalization;
using System.Text;

namespace Voron.Torture.Damage;

/// <content>Id trees: with sets of each form.</content>
internal sealed partial class StoreMaker
{
    private const string IdTreeName = "ids";
    private const int LargeSet = 2_500;

    /// <summary>Sparse ids have two pages of their own then, and dense ones one.</summary>
    private const int SmallSet = 900;

    /// <summary>Creates images of stores with an id tree.</summary>
    public static IReadOnlyList<StoreImage> MakeWithIds() => [WithIds(isClosed: true), WithIds(isClosed: false)];

    private static StoreImage WithIds(bool isClosed)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(writing => FillIds(writing, LargeSet));
        maker._environment.Flush();
        for (var round = 1; round < 4; round++)
            maker.Commit(writing => ChangeIds(writing, round));
        if (isClosed)
            maker._environment.Dispose();
        else
            maker._environment.Internals.ConfirmDurability();
        return maker.Take(isClosed ? "id trees, closed" : "id trees, durability confirmed");
    }

    // One id, few in the leaf, pages of their own, and several of them below a branch.
    private static void FillIds(WriteTransaction writing, int count)
    {
        var tree = writing.CreateIdTree(IdTreeName);
        for (var key = 0; key < 40; key++)
            AddIds(tree, key, count: key % 4 == 0 ? 1 : 3 * key, stride: 1 + key);
        AddIds(tree, 40, count, stride: 5);
        AddIds(tree, 41, count, stride: 1L << 34);
    }

    private static void ChangeIds(WriteTransaction writing, int round)
    {
        var tree = writing.OpenIdTree(IdTreeName);
        for (var key = round; key < 42; key += 5)
        {
            tree.Add(IdKey(key), round * 7, (byte)round);
            tree.Remove(IdKey(key), (1 + key) * round);
        }

        tree.RemoveMany(IdKey(40), [.. Enumerable.Range(300 * round, 200).Select(i => i * 5L)]);
        AddIds(tree, 41, count: 30, stride: 3 + round);
        tree.RemoveAll(IdKey(round * 9));
    }

    private static void AddIds(WriteIdTree tree, int key, int count, long stride)
    {
        long[] ids = [.. Enumerable.Range(0, count).Select(i => i * stride)];
        byte[] payloads = [.. ids.Select(id => (byte)(id % 11))];
        tree.AddMany(IdKey(key), ids, payloads);
    }

    private static byte[] IdKey(int key) => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{key:D4}"));
}
