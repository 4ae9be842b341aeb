namespace Voron.Tests.Trees;

/// <summary>The images of a leaf and a branch on disk, byte for byte. A change here is a change of the file format.</summary>
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
}
