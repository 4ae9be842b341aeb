namespace Voron.Torture.Damage;

/// <content>Fixed-size trees: of several leaves, with and without entries in the order of their cells.</content>
internal sealed partial class StoreMaker
{
    private const int FixedKeys = 700;
    private const int FixedValueBytes = 8;
    private const int WideValueBytes = 512;

    /// <summary>Shares no divisor with the number of keys, so that each key occurs once.</summary>
    private const int FixedStep = 311;

    private static void FillFixed(WriteTransaction writing)
    {
        var tree = writing.CreateFixedTree("fixed", FixedValueBytes);
        for (var i = 0; i < FixedKeys; i++)
        {
            if (i * FixedStep % FixedKeys is < 100 or > 180)
                tree.Put(FixedKey(i * FixedStep), Value(i, FixedValueBytes));
        }

        var wide = writing.CreateFixedTree("fixed, wide", WideValueBytes);
        for (var i = 0; i < 12; i++)
            wide.Put(i, Value(i, WideValueBytes));
    }

    private static void ChangeFixed(WriteTransaction writing, int round)
    {
        var tree = writing.OpenFixedTree("fixed");
        tree.Delete(FixedKey(round * 11));
        tree.DeleteRange(FixedKey(200 + round * 30), FixedKey(212 + round * 30));
        for (var i = 0; i < 12; i++)
            tree.Put(FixedKey((round * 37) + (i * 59)), Value(round, FixedValueBytes));
        for (var i = 0; i < 20; i++)
            tree.Put(FixedKeys + (round * 20) + i, Value(i, FixedValueBytes));
        writing.OpenFixedTree("fixed, wide").Put(round * 3, Value(round, WideValueBytes));
    }

    // Half of the keys are negative.
    private static long FixedKey(int i) => (i % FixedKeys) - (FixedKeys / 2);
}
