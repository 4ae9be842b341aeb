using Voron.Format;
using Voron.Primitives;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.IdSets;

/// <summary>A set with pages of its own on fake pages, with a sorted model of its expected content.</summary>
internal sealed unsafe class TestIdSet(int pageSize = 4096) : IDisposable
{
    private static readonly IdSetMarks Marks = new(7, 0xABCD);
    private readonly List<long> _ids = [];
    private readonly List<byte> _payloads = [];
    private IdSetReference _set;
    private long _lastPage;

    public FakePages Pages { get; } = new(pageSize);

    public SortedDictionary<long, byte> Model { get; } = [];

    public IdSetReference Set => _set;

    public void Apply(params IdChange[] changes)
    {
        IdSetWriter.Apply(Pages, Marks, ref _set, changes);
        foreach (var change in changes)
        {
            if (change.IsRemoval)
                Model.Remove(change.Id);
            else
                Model[change.Id] = (byte)change.Payload;
        }
    }

    public void Free()
    {
        IdSetWriter.FreeAll(Pages, Marks, ref _set);
        Model.Clear();
    }

    public IdSetCursor OpenCursor()
    {
        var cursor = new IdSetCursor();
        var record = _set;
        record.Form = ExtendedForm.IdSet;
        if (record.Root != 0)
            cursor.Open(Pages, (byte*)&record, IdSetReference.Size);
        return cursor;
    }

    /// <summary>Returns the id page for an id, to be changed behind the back of the set.</summary>
    public byte* PageOf(long id)
    {
        var path = new IdSetPath();
        path.Descend(Pages, ArrayLayout.OfBranches(pageSize), _set, id);
        return Pages.Damage(path.Leaf);
    }

    /// <summary>Returns the highest id; 0 if there is none.</summary>
    public long Last()
    {
        var cursor = OpenCursor();
        return cursor.MovePrevious() ? cursor.Current : 0;
    }

    /// <summary>Checks that the set is sound, owns every page in use, and has the ids of the model.</summary>
    public void Check()
    {
        if (_set.Root == 0)
        {
            Model.Should().BeEmpty();
            Pages.PagesInUse.Should().Be(0);
            return;
        }

        _ids.Clear();
        _payloads.Clear();
        Walk(new PageNumber(_set.Root), _set.Depth, long.MinValue, long.MaxValue);
        _set.LastPage.Should().Be((uint)_lastPage);
        _set.Pages.Should().Be((uint)Pages.PagesInUse);
        _set.Ids.Should().Be(Model.Count);
        _ids.Should().Equal(Model.Keys);
        _payloads.Should().Equal(Model.Values);
    }

    public void Dispose() => Pages.Dispose();

    private void Walk(PageNumber number, int depth, long lower, long upper)
    {
        var page = Pages.Read(number);
        PageStructure.FindFault(page, 1, number.Value, pageSize).Should().BeNull();
        ((PageHeader*)page)->TreeMark.Should().Be(Marks.TreeMark);
        ((PageHeader*)page)->OwnerHash.Should().Be(Marks.OwnerHash);
        if (depth > 1)
        {
            var layout = ArrayLayout.OfBranches(pageSize);
            var branch = IdSetPath.ReadBranch(Pages, number);
            var count = ArrayPage.Count(branch);
            ArrayPage.Key(branch, layout, 0).Should().Be(ArrayLayout.FirstKey);
            for (var i = 0; i < count; i++)
            {
                var from = i == 0 ? lower : ArrayPage.Key(branch, layout, i);
                var to = i + 1 < count ? ArrayPage.Key(branch, layout, i + 1) : upper;
                Walk(ArrayPage.Child(branch, layout, i), depth - 1, from, to);
            }

            return;
        }

        _lastPage = number.Value;
        var found = stackalloc long[IdBlock.MaxIds];
        var foundPayloads = stackalloc byte[IdBlock.MaxIds];
        for (var i = 0; i < IdPage.Count(page); i++)
        {
            var count = IdPage.Unpack(Pages, page, i, found);
            IdPage.UnpackPayloads(Pages, page, i, foundPayloads);
            if (found[0] < lower || found[count - 1] > upper || (found[count - 1] == upper && upper != long.MaxValue))
                throw new InvalidOperationException($"page {number} has ids {found[0]} to {found[count - 1]}, not from {lower} up to {upper}");
            IdPage.Entries(page)[i].HighestPayload.Should().Be(IdBlock.Highest(foundPayloads, count));
            _ids.AddRange(new ReadOnlySpan<long>(found, count));
            _payloads.AddRange(new ReadOnlySpan<byte>(foundPayloads, count));
        }
    }
}
