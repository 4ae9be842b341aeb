using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Trees.IdSets.Pages;

/// <summary>Changes a set with pages of its own: id pages, and array pages above them.</summary>
/// <remarks>
/// Changes update the reference to the set, which the caller writes back. Without a root, the set is empty. A full page is split before anything in
/// it changes, and the change then restarts at the root, so each step leaves a consistent set. A split copies the upper blocks to a new page before
/// it drops them. Ids appended at the end start a new page instead.
/// </remarks>
internal unsafe ref partial struct IdSetWriter
{
    // Up to this many changes at the end are written into the tail one by one. Each takes a few bytes in the journal.
    private const int FewChanges = 4;

    // A block that has shrunk below the first number of ids absorbs the next block if both together have at most the second number.
    private const int SmallBlock = 32;
    private const int ComfortableBlock = 96;

    private readonly PageWriter _pages;
    private readonly IdSetMarks _marks;
    private readonly ArrayLayout _layout;
    private readonly long* _ids;
    private readonly byte* _payloads;
    private readonly long* _oldIds;
    private readonly byte* _oldPayloads;
    private IdSetReference _set;
    private IdSetPath _path;

    // The changed block: the number of its ids now and before, and whether anything in it has changed.
    private int _count;
    private int _oldCount;
    private bool _isChanged;

    private IdSetWriter(PageWriter pages, in IdSetMarks marks, in IdSetReference set, long* ids, byte* payloads)
    {
        _pages = pages;
        _marks = marks;
        _layout = ArrayLayout.OfBranches(pages.PageSize);
        _set = set;
        _ids = ids;
        _payloads = payloads;
        _oldIds = ids + IdContent.MaxIds;
        _oldPayloads = payloads + IdContent.MaxIds;
    }

    /// <summary>Applies changes.</summary>
    /// <param name="pages">The pages.</param>
    /// <param name="marks">The marks of the set.</param>
    /// <param name="set">The set, without a root if it has no pages yet; afterwards, without a root if it is empty.</param>
    /// <param name="changes">The changes, in ascending order of their ids, each id at most once.</param>
    /// <exception cref="CorruptionException">A page of the set is damaged. The transaction can only be rolled back.</exception>
    [SkipLocalsInit]
    public static void Apply(PageWriter pages, in IdSetMarks marks, ref IdSetReference set, scoped ReadOnlySpan<IdChange> changes)
    {
        Debug.Assert(IdChange.AreInOrder(changes), "The caller must have sorted the changes.");
        var ids = stackalloc long[IdContent.MaxIds + IdBlock.MaxIds];
        var payloads = stackalloc byte[IdContent.MaxIds + IdBlock.MaxIds];
        var writer = new IdSetWriter(pages, marks, set, ids, payloads);
        while (!changes.IsEmpty)
            changes = changes[writer.ApplySome(changes)..];
        set = writer._set;
    }

    /// <summary>Applies the first changes, and returns their number.</summary>
    private int ApplySome(scoped ReadOnlySpan<IdChange> changes)
    {
        if (_set.Root == 0)
            return ApplyToNone(changes);
        if (changes.Length <= FewChanges && TryAppend(changes[0]))
            return 1;
        _path.Descend(_pages, _layout, _set, changes[0].Id);
        return ApplyToPage(changes);
    }

    private int ApplyToNone(scoped ReadOnlySpan<IdChange> changes)
    {
        var done = 0;
        for (_count = 0; done < changes.Length && _count < IdBlock.MaxIds; done++)
        {
            if (!changes[done].IsRemoval)
                Take(changes[done]);
        }

        if (_count == 0)
            return done;
        var number = AddPage(PageNumber.None, new IdContent(_ids, _payloads, _count, isAtEnd: true));
        _set.Root = _set.LastPage = (uint)number.Value;
        _set.Depth = 1;
        _set.Ids = _count;
        return done;
    }

    private bool TryAppend(in IdChange change)
    {
        if (change.IsRemoval)
            return false;
        var number = new PageNumber(_set.LastPage);
        var page = IdPage.Read(_pages, number);
        _marks.Check(_pages, page, number);
        var last = IdPage.Count(page) - 1;
        if (!IdPage.Entries(page)[last].IsTail || change.Id <= IdPage.Entries(page)[last].First)
            return false;
        var lastId = _oldIds[IdPage.Unpack(_pages, page, last, _oldIds) - 1];
        if (change.Id <= lastId || !IdPageEditor.CanAppend(page, lastId, change.Id))
            return false;
        IdPageEditor.Append(_pages.Modify(number), lastId, change.Id, (byte)change.Payload);
        _set.Ids++;
        return true;
    }

    private int ApplyToPage(scoped ReadOnlySpan<IdChange> changes)
    {
        var number = _path.Leaf;
        var done = 0;
        var isSmaller = false;
        _marks.Check(_pages, _path.ReadIds(_pages), number);
        while (done < changes.Length && changes[done].Id <= _path.Highest)
        {
            var page = _path.ReadIds(_pages);
            var block = IdPage.FindBlock(page, changes[done].Id);
            var isLast = block + 1 == IdPage.Count(page);
            var some = UpTo(changes[done..], isLast ? _path.Highest : IdPage.Entries(page)[block + 1].First - 1);
            var isTail = IdPage.Entries(page)[block].IsTail;
            var isAppended = Merge(page, block, some) && isLast && _path.IsAtEnd;
            if (_isChanged && !TryWrite(number, block, isAppended || isTail))
            {
                if (isAppended)
                    return done + StartPage(number, block, some.Length);
                Divide(number);
                return done;
            }

            done += some.Length;
            isSmaller |= _count < _oldCount;
            if (_count == 0 && IdPage.Count(_pages.Read(number)) == 0)
            {
                RemoveLeaf();
                return done;
            }
        }

        if (isSmaller)
            MergeLeaf();
        return done;
    }

    /// <summary>Returns the first changes, those to ids up to the highest one of a block, but no more than a block can hold.</summary>
    private static ReadOnlySpan<IdChange> UpTo(ReadOnlySpan<IdChange> changes, long highest)
    {
        var count = 0;
        while (count < changes.Length && count < IdBlock.MaxIds && changes[count].Id <= highest)
            count++;
        return changes[..count];
    }

    /// <summary>Merges the ids of a block with changes; returns whether all changes add ids after those of the block.</summary>
    private bool Merge(byte* page, int block, scoped ReadOnlySpan<IdChange> changes)
    {
        _oldCount = IdPage.Unpack(_pages, page, block, _oldIds);
        if (_oldIds[_oldCount - 1] > _path.Highest)
            IdSetErrors.ThrowBounds(_pages, _path.Leaf, _path.Lowest, _path.Highest);
        IdPage.UnpackPayloads(_pages, page, block, _oldPayloads);
        _count = 0;
        _isChanged = false;
        var isAppended = changes[0].Id > _oldIds[_oldCount - 1];
        var at = 0;
        foreach (var change in changes)
        {
            while (at < _oldCount && _oldIds[at] < change.Id)
                TakeOld(at++);
            var isThere = at < _oldCount && _oldIds[at] == change.Id;
            if (change.IsRemoval)
            {
                _isChanged |= isThere;
                isAppended = false;
            }
            else
            {
                _isChanged |= !isThere || _oldPayloads[at] != change.Payload;
                Take(change);
            }

            at += isThere ? 1 : 0;
        }

        while (at < _oldCount)
            TakeOld(at++);
        return isAppended;
    }

    private void TakeOld(int index)
    {
        _ids[_count] = _oldIds[index];
        _payloads[_count++] = _oldPayloads[index];
    }

    private void Take(in IdChange change)
    {
        _ids[_count] = change.Id;
        _payloads[_count++] = (byte)change.Payload;
    }

    /// <summary>Writes the merged ids in place of a block; returns false, and changes nothing, when the page has no room.</summary>
    /// <param name="number">The page.</param>
    /// <param name="block">The block.</param>
    /// <param name="isAtEnd">True if more ids are expected after these: the block becomes or remains the tail.</param>
    private bool TryWrite(PageNumber number, int block, bool isAtEnd)
    {
        var added = _count - _oldCount;
        var count = _count;
        var removed = 1;
        var page = _pages.Read(number);
        if (added < 0 && count is > 0 and < SmallBlock && block + 1 < IdPage.Count(page)
            && count + IdPage.Entries(page)[block + 1].Count <= ComfortableBlock)
        {
            count += IdPage.Unpack(_pages, page, block + 1, _ids + count);
            IdPage.UnpackPayloads(_pages, page, block + 1, _payloads + _count);
            isAtEnd |= IdPage.Entries(page)[block + 1].IsTail;
            removed = 2;
        }

        var writable = _pages.Modify(number);
        if (!IdPageEditor.TryReplace(writable, _pages.PageSize, block, removed, new IdContent(_ids, _payloads, count, isAtEnd)))
            return false;
        if (added > 0 || !PlantedFault.ForgetSetCount)
            _set.Ids += added;
        return true;
    }

    /// <summary>Starts a new page with the ids after those of the last block, for which the last page has no room.</summary>
    private int StartPage(PageNumber number, int block, int changes)
    {
        if (IdPage.Entries(_pages.Read(number))[block].IsTail)
            IdPageEditor.TryReplace(_pages.Modify(number), _pages.PageSize, block, 1, new IdContent(_ids, _payloads, _oldCount, isAtEnd: false));
        var content = new IdContent(_ids + _oldCount, _payloads + _oldCount, _count - _oldCount, isAtEnd: true);
        var added = AddPage(number, content);
        _set.LastPage = (uint)added.Value;
        _set.Ids += _count - _oldCount;
        InsertChild(_path.LeafLevel - 1, _ids[_oldCount], added);
        return changes;
    }
}
