using Voron.Tests.Trees.FixedSize;

namespace Voron.Tests.Trees;

/// <summary>The images of a leaf and a branch on disk, byte for byte. A change here is a change of the file format.</summary>
[Quick]
public sealed class GoldenPageTests
{
    [Fact]
    public void A_leaf()
    {
        using var tree = new TestTree();
        tree.Put("bb"u8.ToArray(), "second"u8.ToArray());
        tree.Put("a"u8.ToArray(), "first"u8.ToArray());
        tree.Put("c"u8.ToArray(), new byte[5_000]);
        tree.Delete("bb"u8.ToArray());
        tree.Put("d"u8.ToArray(), []);
        tree.Image(tree.State.Root).Should().Be("""
            0020: 01000000000000000100000000000000
            0030: 0300d00f0c0000000100000000000000
            0040: ea0fd50fd00f00000000000000000000
            0fd0: 01000000640140100063020000000000
            0fe0: 00008813000000000000010005006166
            0ff0: 697273740200060062627365636f6e64
            """);
    }

    [Fact]
    public void A_branch()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 6; i++)
            tree.Put([(byte)('a' + i / 2), (byte)('0' + i)], new byte[1_900]);
        tree.Image(tree.State.Root).Should().Be("""
            0020: 03000000000000000200000000000000
            0030: 0300e00f000000000100000000000000
            0040: f60feb0fe00f00000000000000000000
            0fe0: 01000400000000000000630100020000
            0ff0: 00000000006200000100000000000000
            """);
    }

    [Fact]
    public void A_leaf_of_a_fixed_size_tree_in_order()
    {
        using var tree = new TestFixedSizeTree();
        for (var i = -2; i < 3; i++)
            tree.Put(i * 256, i + 0x11223344);
        tree.Pages.Image(tree.State.Root).Should().Be("""
            0020: 01000000000000000501000000000000
            0030: 05000500080000000100000000000000
            0130: 00feffffffffffff00ffffffffffffff
            0140: 00000000000000000001000000000000
            0150: 00020000000000000000000000000000
            0890: 00000000000000004233221142332211
            08a0: 43332211433322114433221144332211
            08b0: 45332211453322114633221146332211
            """);
    }

    [Fact]
    public void A_leaf_of_a_fixed_size_tree_with_free_cells()
    {
        using var tree = new TestFixedSizeTree(4096, 12);
        foreach (var key in (int[])[30, 10, 20, 50, 40])
            tree.Put(key, key + 0x11223300);
        tree.Delete(20);
        tree.Delete(50);
        tree.Pages.Image(tree.State.Root).Should().Be("""
            0020: 01000000000000000500000000000000
            0030: 030005000c0000000100000000000000
            0040: 01000403020000000000000000000000
            0100: 1e000000000000000a00000000000000
            0110: 14000000000000003200000000000000
            0120: 28000000000000000000000000000000
            0700: 1e3322111e3322111e3322110a332211
            0710: 0a3322110a3322111433221114332211
            0720: 14332211323322113233221132332211
            0730: 28332211283322112833221100000000
            """);
    }

    [Fact]
    public void A_branch_of_a_fixed_size_tree()
    {
        using var tree = new TestFixedSizeTree(4096, 512);
        foreach (var key in (int[])[10, 20, 30, 40, 50, 60, 70, 80, 5, 15, 25, 6, 7, 8])
            tree.Put(key, key);
        tree.Pages.Image(tree.State.Root).Should().Be("""
            0020: 03000000000000000502000000000000
            0030: 04000400040000000100000000000000
            0040: 00000300020001000000000000000000
            0280: 00000000000000805000000000000000
            0290: 28000000000000000f00000000000000
            0b80: 01000000020000000400000005000000
            """);
    }
}
