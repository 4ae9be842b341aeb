using System.Globalization;
using System.Text;

namespace Voron.Torture.Damage;

/// <content>Trees of value sets: with sets of each form.</content>
internal sealed partial class StoreMaker
{
    private const string ValueSetTreeName = "sets";

    /// <summary>Creates images of stores with a tree of value sets.</summary>
    public static IReadOnlyList<StoreImage> MakeWithValueSets() => [WithValueSets(isClosed: true), WithValueSets(isClosed: false)];

    private static StoreImage WithValueSets(bool isClosed)
    {
        using var maker = new StoreMaker(TornPageProtection.Checksums, JournalCompression.Never);
        maker.Commit(FillValueSets);
        maker._environment.Flush();
        for (var round = 1; round < 4; round++)
            maker.Commit(writing => ChangeValueSets(writing, round));
        if (isClosed)
            maker._environment.Dispose();
        else
            maker._environment.Internals.ConfirmDurability();
        return maker.Take(isClosed ? "value sets, closed" : "value sets, durability confirmed");
    }

    // One value, few in the leaf, and large sets of one leaf or several.
    private static void FillValueSets(WriteTransaction writing)
    {
        var tree = writing.CreateValueSetTree(ValueSetTreeName);
        for (var key = 0; key < 40; key++)
            AddValues(tree, key, first: 0, count: key % 4 == 0 ? 1 : key);
        AddValues(tree, 40, first: 0, count: 120);
        AddValues(tree, 41, first: 0, count: 400);
        AddValues(tree, 42, first: 0, count: 90);
    }

    // Some sets become large, others small, and rooms get holes.
    private static void ChangeValueSets(WriteTransaction writing, int round)
    {
        var tree = writing.OpenValueSetTree(ValueSetTreeName);
        for (var key = round; key < 43; key += 5)
        {
            AddValues(tree, key, first: 1_000 * round, count: 1 + (key % 3));
            tree.Remove(SetKey(key), SetValue(key / 2));
        }

        AddValues(tree, 20 + round, first: 500, count: 60);
        for (var i = 2; round == 2 && i < 90; i++)
            tree.Remove(SetKey(42), SetValue(i));
        tree.RemoveAll(SetKey(round * 9));
    }

    private static void AddValues(WriteValueSetTree tree, int key, int first, int count)
    {
        for (var i = first; i < first + count; i++)
            tree.Add(SetKey(key), SetValue(i));
    }

    private static byte[] SetKey(int key) => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{key:D4}"));

    private static byte[] SetValue(int number) =>
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"{number:D5}{new string('v', number * 7 % 40)}"));
}
