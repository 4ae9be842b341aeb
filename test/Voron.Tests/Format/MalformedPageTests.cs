using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Format;

/// <summary>Impossible pages and states with a valid checksum: each field that leads somewhere is checked before it is followed.</summary>
[Quick]
public sealed unsafe class MalformedPageTests
{
    private const int PageSize = 4096;

    private delegate void Change(PageHeader* header, ushort* slots, byte* page);

    private static readonly Dictionary<string, Change> Changes = new(StringComparer.Ordinal)
    {
        ["another page's number"] = (header, _, _) => header->PageNumber++,
        ["no entries"] = (header, _, _) => header->EntryCount = 0,
        ["more entries than slots have room"] = (header, _, _) => header->EntryCount = ushort.MaxValue,
        ["a heap above its lowest record"] = (header, _, _) => header->HeapStart += 4,
        ["a heap below its lowest record"] = (header, _, _) => header->HeapStart -= 4,
        ["a heap behind the page"] = (header, _, _) => header->HeapStart = PageSize + 8,
        ["too many holes"] = (header, _, _) => header->HoleBytes++,
        ["a slot in the header"] = (_, slots, _) => slots[1] = 8,
        ["a slot at the page's last byte"] = (_, slots, _) => slots[1] = PageSize - 1,
        ["a slot behind the page"] = (_, slots, _) => slots[1] = ushort.MaxValue,
        ["two slots of one record"] = (_, slots, _) => slots[1] = slots[0],
        ["a slot into another record"] = (_, slots, _) => slots[1] = (ushort)(slots[0] + 4),
        ["keys that fall"] = (_, slots, _) => (slots[0], slots[1]) = (slots[1], slots[0]),
        ["an empty key"] = (_, slots, page) => Record(page, slots[2])->KeyLengthAndKind &= unchecked((ushort)~LeafRecordHeader.KeyLengthMask),
        ["a key as long as can be said"] = (_, slots, page) => Record(page, slots[2])->KeyLengthAndKind |= LeafRecordHeader.KeyLengthMask,
        ["a value that leaves the page"] = (_, slots, page) => Record(page, slots[2])->InlineLength = PageSize,
        ["a value of a kind that is not"] = (_, slots, page) => Record(page, slots[2])->KeyLengthAndKind |= 3 << LeafRecordHeader.KindShift,
        ["a run at no page"] = (_, slots, page) => Overflow(page, slots[0])->FirstPage = 0,
        ["a run behind all pages"] = (_, slots, page) => Overflow(page, slots[0])->FirstPage = 1L << 40,
        ["a run of less than no bytes"] = (_, slots, page) => Overflow(page, slots[0])->Length = -1,
        ["a run of more than can be read"] = (_, slots, page) => Overflow(page, slots[0])->Length = 1L << 40,
    };

    public static TheoryData<string> Names => [.. Changes.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public void A_leaf_that_cannot_be_is_found(string name)
    {
        using var leaf = new GuardedBuffer(MakeLeaf(out var number));
        PageStructure.FindFault(leaf.Pointer, 1, number, PageSize).Should().BeNull("it has not been changed yet");
        Changes[name]((PageHeader*)leaf.Pointer, (ushort*)(leaf.Pointer + PageHeader.Size), leaf.Pointer);
        PageStructure.FindFault(leaf.Pointer, 1, number, PageSize).Should().NotBeNullOrEmpty();
        leaf.IsIntact.Should().BeTrue();
    }

    [Fact]
    public void A_state_that_cannot_be_is_found()
    {
        var tree = new TreeHeader { RootPage = 9, Depth = 2, LeafPages = 3, BranchPages = 1, EntryCount = 40 };
        var state = new EnvironmentState { TransactionId = 7, PageCount = 100, Catalog = tree };
        StateStructure.FindFault(state).Should().BeNull();
        StateStructure.FindFault(state with { TransactionId = -1 }).Should().Contain("transaction id");
        StateStructure.FindFault(state with { TransactionId = long.MaxValue }).Should().Contain("transaction id");
        StateStructure.FindFault(state with { PageCount = 2 }).Should().Contain("2 pages");
        StateStructure.FindFault(state with { PageCount = 1L << 33 }).Should().Contain("pages");
        foreach (var changed in (TreeHeader[])
        [
            tree with { RootPage = 100 }, tree with { RootPage = -1 }, tree with { RootPage = 0 }, tree with { Depth = 0 },
            tree with { Depth = StateStructure.MaxDepth + 1, BranchPages = 50 }, tree with { LeafPages = 0 }, tree with { LeafPages = 101 },
            tree with { BranchPages = 0 }, tree with { BranchPages = 98 }, tree with { OverflowPages = 97 }, tree with { OverflowPages = -1 },
            tree with { EntryCount = -1 }, tree with { Kind = TreeKind.FixedSize, NestedValues = 8 }, tree with { NestedPages = 1 },
        ])
            StateStructure.FindFault(state with { Catalog = changed }).Should().Contain("catalog");
    }

    [Fact]
    public void A_kind_of_tree_that_cannot_be_is_found()
    {
        var tree = new TreeHeader { RootPage = 9, Depth = 2, LeafPages = 3, BranchPages = 1, EntryCount = 40 };
        foreach (var possible in (TreeHeader[])
        [
            tree, tree with { Flags = TreeHeader.RecordedFlag }, tree with { Flags = TreeHeader.CompressedFlag }, tree with { Flags = 3 },
            tree with { Kind = TreeKind.FixedSize }, tree with { Kind = TreeKind.FixedSize, NestedValues = 8192 },
            tree with { Kind = TreeKind.IdSets, NestedValues = 40 }, tree with { Kind = TreeKind.IdSets, NestedValues = 4000, NestedPages = 96 },
        ])
            StateStructure.FindFault(possible, 100, 65536).Should().BeNull();
        foreach (var changed in (TreeHeader[])
        [
            tree with { Flags = 4 }, tree with { Flags = 2, Kind = TreeKind.FixedSize }, tree with { Flags = 1, Kind = TreeKind.FixedSize },
            tree with { Flags = 1, Kind = TreeKind.IdSets, NestedValues = 40 }, tree with { NestedPages = 1 },
            tree with { NestedValues = 1 }, tree with { Kind = (TreeKind)5 },
            tree with { Kind = (TreeKind)4 }, tree with { Kind = TreeKind.FixedSize, NestedValues = 8193 },
            tree with { Kind = TreeKind.FixedSize, NestedValues = -1 },
            tree with { Kind = TreeKind.FixedSize, NestedPages = 1 }, tree with { Kind = TreeKind.FixedSize, OverflowPages = 1 },
            tree with { Kind = TreeKind.IdSets, NestedValues = 39 }, tree with { Kind = TreeKind.IdSets, NestedValues = 40, NestedPages = 97 },
            tree with { Kind = TreeKind.IdSets, NestedValues = 40, NestedPages = -1 },
        ])
            StateStructure.FindFault(changed, 100, 65536).Should().NotBeNull();
        StateStructure.FindFault(tree with { Kind = TreeKind.FixedSize, NestedValues = 512 }, 100, 4096).Should().BeNull();
        StateStructure.FindFault(tree with { Kind = TreeKind.FixedSize, NestedValues = 513 }, 100, 4096).Should().NotBeNull("no page can hold it");
    }

    private static LeafRecordHeader* Record(byte* page, ushort slot) => (LeafRecordHeader*)(page + slot);

    private static OverflowReference* Overflow(byte* page, ushort slot)
    {
        var record = Record(page, slot);
        ((ValueKind)(record->KeyLengthAndKind >> LeafRecordHeader.KindShift)).Should().Be(ValueKind.Overflow);
        return (OverflowReference*)((byte*)(record + 1) + (record->KeyLengthAndKind & LeafRecordHeader.KeyLengthMask));
    }

    // Returns a leaf as the engine writes it, with one value outside the leaf and some inside.
    private static byte[] MakeLeaf(out long number)
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < 6; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, i == 0 ? 9_000 : 50 + i));
        }

        var file = disk.Contents("voron.data");
        for (var start = 0; start < file.Length; start += PageSize)
        {
            ReadOnlySpan<byte> page = file.AsSpan(start, PageSize);
            var header = MemoryMarshal.Read<PageHeader>(page);
            if (header.Kind == PageKind.Leaf && header.EntryCount == 6)
            {
                number = header.PageNumber;
                return page.ToArray();
            }
        }

        throw new InvalidOperationException("There is no such leaf.");
    }
}
