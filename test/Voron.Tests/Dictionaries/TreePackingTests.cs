using Voron.Transactions;

namespace Voron.Tests.Dictionaries;

/// <summary>When a tree should get another dictionary.</summary>
[Quick]
public sealed class TreePackingTests
{
    private const long MiB = 1 << 20;

    private const int Plain = 1 << 10;

    private readonly TreePacking _tree = new();

    [Fact]
    public void The_first_one_when_it_has_a_mebibyte()
    {
        Fill(MiB - 4096, 3 * MiB).Should().BeEmpty();
        Fill(MiB, MiB).Should().ContainSingle();
    }

    [Fact]
    public void Another_one_when_values_are_compressed_less_well_by_a_fifth()
    {
        _tree.Dictionary = 1;
        _tree.Ratio = 400_000;
        Fill(2 * MiB, 64 * MiB, packed: Plain * 49 / 100).Should().BeEmpty();
        Fill(2 * MiB, 2 * MiB, packed: Plain * 51 / 100).Should().ContainSingle();
    }

    [Fact]
    public void Another_one_when_it_has_grown_eight_times()
    {
        _tree.Dictionary = 1;
        _tree.Ratio = 400_000;
        Fill(MiB, 32 * MiB).Should().BeEmpty();
        Fill(7 * MiB, 32 * MiB).Should().BeEmpty();
        Fill(8 * MiB, MiB).Should().ContainSingle();

        // The training may have found none that is worth it.
        Fill(63 * MiB, 64 * MiB).Should().BeEmpty();
        Fill(64 * MiB, MiB).Should().ContainSingle();

        _tree.Dictionary = 2;
        Fill(100 * MiB, 64 * MiB).Should().BeEmpty();
        Fill(800 * MiB, MiB).Should().ContainSingle();
    }

    // Stores values, and returns how many were stored each time that a dictionary was wanted.
    private List<long> Fill(long treeBytes, long bytes, int packed = Plain * 2 / 5)
    {
        var wanted = new List<long>();
        for (var stored = 0L; stored < bytes; stored += Plain)
        {
            if (_tree.Note(Plain, packed, treeBytes))
                wanted.Add(stored);
        }

        return wanted;
    }
}
