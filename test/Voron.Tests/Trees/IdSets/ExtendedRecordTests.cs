using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.IdSets;

[Quick]
public sealed unsafe class ExtendedRecordTests
{
    private static readonly byte[] Key = "key"u8.ToArray();

    [Fact]
    public void Records_have_the_sizes_of_the_file_format()
    {
        Unsafe.SizeOf<FewIdsHeader>().Should().Be(FewIdsHeader.Size).And.Be(12);
        Unsafe.SizeOf<IdSetReference>().Should().Be(IdSetReference.Size).And.Be(24);
    }

    [Theory]
    [InlineData(0, 3)]
    [InlineData(255, 3)]
    [InlineData(256, 4)]
    [InlineData(65_536, 5)]
    [InlineData(long.MaxValue, 10)]
    public void One_id_takes_as_many_bytes_as_it_has(long id, int length)
    {
        using var behind = new GuardedBuffer(10);
        ExtendedRecord.WriteOneId(behind.Pointer, id, 7).Should().Be(length);
        ExtendedRecord.IsSound(behind.Pointer, length).Should().BeTrue();
        ExtendedRecord.OneId(behind.Pointer, length).Should().Be(id);
        behind.Span[1].Should().Be(7);
    }

    [Fact]
    public void Records_that_cannot_be_are_not_sound()
    {
        Check([], false);
        Check([0], false);
        Check([1, 0], false);
        Check([1, 0, 5], true);
        Check([1, 0, .. Bytes(long.MaxValue)], true);
        Check([1, 0, .. Bytes(-1L)], false);
        Check([1, 0, .. Bytes(1L), 0], false);
        Check([2, 2, 5, 0, .. Bytes(9L), 0, 0, 0, 0], true);
        Check([2, 2, 5, 0, .. Bytes(9L)], false);
        Check([2, 1, 5, 0, .. Bytes(9L)], true);
        Check([2, 0, 5, 0, .. Bytes(9L), 0, 0, 0, 0], false);
        Check([2, 129, 0, 0, .. Bytes(9L), 0, 0, 0, 0], false);
        Check([2, 2, 64, 0, .. Bytes(9L), .. new byte[20]], false);
        Check([2, 2, 5, 9, .. Bytes(9L), .. new byte[20]], false);
        Check([2, 2, 5, 0, .. Bytes(-9L), 0, 0, 0, 0], false);
        Check([2, 1, 5, 0, .. Bytes(9L), .. new byte[245]], false);
        var set = new IdSetReference { Form = ExtendedForm.IdSet, Depth = 2, Root = 9, Ids = 500, Pages = 3, LastPage = 11 };
        Check(Bytes(set), true);
        Check([.. Bytes(set), 0], false);
        Check([4, .. Bytes(set)[1..]], false);
        Check([3, 2, 1, .. Bytes(set)[3..]], false);
        foreach (var forged in (IdSetReference[])
        [
            set with { Depth = 0 }, set with { Depth = 9 }, set with { Depth = 4 }, set with { Root = 0 }, set with { Root = uint.MaxValue },
            set with { Ids = 0 }, set with { Ids = -1 }, set with { Pages = 1 }, set with { LastPage = 0 }, set with { LastPage = uint.MaxValue },
        ])
            Check(Bytes(forged), false);
    }

    [Fact]
    public void A_tree_of_values_has_no_such_record()
    {
        using var tree = new TestTree();
        tree.Put("a"u8.ToArray(), [1]);
        tree.Put(Key, [2, 1, 5, 0, .. Bytes(9L)]);
        var number = tree.State.Root;
        var page = tree.Pages.Damage(number);
        var record = SlottedPage.Record(page, 1);
        ((LeafRecordHeader*)record)->KeyLengthAndKind |= (int)ValueKind.Extended << LeafRecordHeader.KindShift;
        PageStructure.FindFault(page, 1, number.Value, tree.Pages.PageSize).Should().BeNull("the record has a possible form");

        Refuses(() => tree.Get(Key));
        Refuses(() => TreeWriter.Put(tree.Pages, tree.State, Key, [1]));
        Refuses(() => TreeWriter.Delete(tree.Pages, tree.State, Key));
        Refuses(() => TreeWriter.Add(tree.Pages, tree.State, Key, [1]));
        using (var cursor = new Lease(tree))
        {
            cursor.Cursor.Seek(Key).Should().BeTrue();
            Refuses(() => cursor.Cursor.Value.ToArray());
            cursor.Cursor.TryGetInlineValue(out _).Should().BeFalse();
        }

        var problems = new List<string>();
        new TreeCheck(tree.Pages, tree.Pages.PageLimit, problems.Add).Run(tree.State.ToHeader());
        problems.Should().ContainSingle().Which.Should().Contain("slot 1").And.Contain("form 2");
    }

    private static void Refuses(Action action) => action.Should().Throw<CorruptionException>().WithMessage("*form 2*");

    private static void Check(byte[] behind, bool isSound)
    {
        using var bytes = new GuardedBuffer(behind);
        ExtendedRecord.IsSound(bytes.Pointer, behind.Length).Should().Be(isSound, Convert.ToHexString(behind));
    }

    private static byte[] Bytes<T>(T value)
        where T : unmanaged => new ReadOnlySpan<byte>(&value, sizeof(T)).ToArray();

    private sealed class Lease : IDisposable
    {
        public Lease(TestTree tree) => Cursor = tree.OpenCursor();

        public TreeCursor Cursor { get; }

        public void Dispose() => Cursor.Close();
    }
}
