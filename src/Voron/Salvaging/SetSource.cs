using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>Copies id sets to the new environment: of a set with damaged pages, the ids in the others.</summary>
/// <param name="pages">The pages.</param>
/// <param name="owned">The pages owned by trees, values and sets.</param>
/// <param name="target">The new environment.</param>
/// <param name="stop">Ends the work.</param>
internal sealed unsafe class SetSource(SalvagePages pages, PageBitmap owned, ISalvageTarget target, CancellationToken stop) : IDisposable
{
    /// <summary>The bytes of an id with its payload.</summary>
    public const int BytesPerId = sizeof(long) + 1;

    private readonly PageBuffer[] _levels = [.. Enumerable.Range(0, IdSetReference.MaxDepth).Select(_ => new PageBuffer(pages.PageSize))];
    private readonly long[] _ids = GC.AllocateArray<long>(IdBlock.MaxIds, pinned: true);
    private readonly byte[] _payloads = GC.AllocateArray<byte>(IdBlock.MaxIds, pinned: true);
    private byte* _record;
    private IdSetMarks _marks;
    private string? _fault;
    private long _last;

    /// <summary>The number of ids that the record of the set claims.</summary>
    public long Claimed { get; private set; }

    /// <summary>The number of ids that were found.</summary>
    public long Taken { get; private set; }

    private long* Ids => (long*)Marshal.UnsafeAddrOfPinnedArrayElement(_ids, 0);

    private byte* Payloads => (byte*)Marshal.UnsafeAddrOfPinnedArrayElement(_payloads, 0);

    /// <summary>Copies the ids of a leaf's record.</summary>
    /// <param name="record">The record.</param>
    /// <param name="treeMark">The mark of its tree; 0 if it is not known.</param>
    /// <param name="isStale">True for a stale leaf: the pages of its set may have changed since, so none is taken.</param>
    /// <returns>Null, or a sentence that describes why ids are lost.</returns>
    public string? Copy(byte* record, uint treeMark, bool isStale)
    {
        _record = record;
        (_fault, _last, Claimed, Taken) = (null, -1, 0, 0);
        if (LeafPage.Kind(record) != ValueKind.Extended)
            return "It is a value in the place of a set of ids.";
        var behind = LeafPage.InlineBytes(record);
        var length = LeafPage.InlineLength(record);
        switch (*(ExtendedForm*)behind)
        {
            case ExtendedForm.OneId:
                Claimed = 1;
                (_ids[0], _payloads[0]) = (ExtendedRecord.OneId(behind, length), behind[1]);
                Take(1);
                break;
            case ExtendedForm.FewIds:
                CopyFew(behind, length);
                break;
            case ExtendedForm.IdSet:
                CopySet(*(IdSetReference*)behind, treeMark, isStale);
                break;
            default:
                return "It has a form that this program does not know.";
        }

        return _fault ?? (Taken == Claimed ? null : $"It claims {Claimed} ids, but its pages have {Taken}.");
    }

    public void Dispose()
    {
        foreach (var level in _levels)
            level.Dispose();
    }

    private void CopyFew(byte* behind, int length)
    {
        var header = *(FewIdsHeader*)behind;
        var block = behind + FewIdsHeader.Size;
        Claimed = header.Count;
        if (IdBlock.TryUnpack(block, length - FewIdsHeader.Size, header.Shape, header.First, Ids)
            && IdBlock.TryUnpackPayloads(block, length - FewIdsHeader.Size, header.Shape, Payloads))
            Take(header.Count);
        else
            Fail("Its ids do not fit into its record.");
    }

    private void CopySet(in IdSetReference set, uint treeMark, bool isStale)
    {
        Claimed = set.Ids;
        _marks = new IdSetMarks(treeMark, IdSetMarks.Hash(LeafPage.Key(_record)));
        if (isStale)
            Fail("Its leaf is an old one, and its pages may have changed since.");
        else if (set.Depth is 0 or > IdSetReference.MaxDepth)
            Fail($"It claims {set.Depth} levels, but can have at most {IdSetReference.MaxDepth}.");
        else
            Walk(set.Root, set.Depth);
    }

    private void Walk(long page, int depth)
    {
        stop.ThrowIfCancellationRequested();
        var buffer = _levels[depth - 1];
        if (pages.TryRead(page, buffer.Bytes) is { } unreadable)
            Fail(unreadable);
        else if (owned.IsSet(page))
            Fail($"{pages.Describe(page)} belongs to something else too.");
        else if (!IsOfSet(page, buffer, depth))
            Fail($"{pages.Describe(page)} should be a page of the set, but is not.");
        else
            CopyPage(page, buffer, depth);
    }

    private bool IsOfSet(long page, PageBuffer buffer, int depth)
    {
        var header = buffer.Header;
        return header->Kind == (depth > 1 ? PageKind.Array : PageKind.Ids)
            && PageStructure.FindFault(buffer.Bytes, 1, page, pages.PageSize) == null
            && (depth == 1 || ArrayPage.IsBranch(buffer.Bytes))
            && header->OwnerHash == _marks.OwnerHash
            && (_marks.TreeMark == 0 || header->TreeMark == _marks.TreeMark);
    }

    private void CopyPage(long page, PageBuffer buffer, int depth)
    {
        owned.Set(page);
        if (depth > 1)
        {
            var layout = ArrayLayout.OfBranches(pages.PageSize);
            for (var i = 0; i < ArrayPage.Count(buffer.Bytes); i++)
                Walk(ArrayPage.Child(buffer.Bytes, layout, i).Value, depth - 1);
            return;
        }

        for (var i = 0; i < IdPage.Count(buffer.Bytes); i++)
        {
            ref readonly var entry = ref IdPage.Entries(buffer.Bytes)[i];
            var block = buffer.Bytes + entry.Place;
            if (IdBlock.TryUnpack(block, entry.Capacity, entry.Shape, entry.First, Ids)
                && IdBlock.TryUnpackPayloads(block, entry.Capacity, entry.Shape, Payloads))
                Take(entry.Count);
            else
                Fail($"Block {i} of {pages.Describe(page)} is malformed.");
        }
    }

    private void Take(int count)
    {
        if (_ids[0] <= _last || _ids[count - 1] < 0)
        {
            Fail($"Its ids do not ascend after {_last}.");
            return;
        }

        _last = _ids[count - 1];
        Taken += count;
        target.AddIds(LeafPage.Key(_record), _ids.AsSpan(0, count), _payloads.AsSpan(0, count));
    }

    private void Fail(string fault) => _fault ??= fault;
}
