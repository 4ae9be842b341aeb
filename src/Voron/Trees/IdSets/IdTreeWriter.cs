using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Trees.IdSets;

/// <summary>Changes the sets in a tree of id sets, each stored under its key.</summary>
/// <remarks>
/// A set is stored in its leaf while it is a single block that takes at most 256 bytes after the key. A larger set has pages of its own until it has
/// fewer than 64 ids and would take at most three quarters of those bytes, so that no set alternates between the two forms. When a set becomes empty,
/// its key is deleted from the tree. The header of the tree counts the ids and the pages of all sets.
/// </remarks>
internal unsafe ref struct IdTreeWriter
{
    private const int FewIds = 64;
    private const int ComfortableBytes = FewIdsHeader.MaxBytes / 4 * 3;

    private readonly PageWriter _pages;
    private readonly TreeState _state;
    private readonly ReadOnlySpan<byte> _key;
    private readonly long* _ids;
    private readonly byte* _payloads;
    private IdSetReference _set;
    private int _count;

    // The location of the set's record, if it exists. Changes to the set's own pages do not touch the leaf.
    private PageNumber _leaf;
    private int _index = -1;
    private int _length;

    private IdTreeWriter(PageWriter pages, TreeState state, ReadOnlySpan<byte> key, long* ids, byte* payloads)
    {
        _pages = pages;
        _state = state;
        _key = key;
        _ids = ids;
        _payloads = payloads;
    }

    private readonly bool HasPages => _set.Root != 0;

    /// <summary>Changes the set of a key.</summary>
    /// <param name="pages">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="key">The key, which may be a span of the tree's own pages.</param>
    /// <param name="changes">The changes, in ascending order of their ids, each id at most once.</param>
    /// <returns>The number of ids that the set has gained; negative if it has lost some.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The first id is negative. A page with such an id could not be read again.</exception>
    /// <exception cref="CorruptionException">A page of the tree is damaged. The transaction can only be rolled back.</exception>
    [SkipLocalsInit]
    public static long Apply(PageWriter pages, TreeState state, ReadOnlySpan<byte> key, scoped ReadOnlySpan<IdChange> changes)
    {
        TreeLimits.CheckKey(pages.PageSize, key);
        if (!changes.IsEmpty)
            ArgumentOutOfRangeException.ThrowIfNegative(changes[0].Id, nameof(changes));
        var ids = stackalloc long[IdContent.MaxIds];
        var payloads = stackalloc byte[IdContent.MaxIds];
        var writer = new IdTreeWriter(pages, state, key, ids, payloads);
        var before = writer.Load();
        var old = writer._set;
        state.PrepareForChange();
        var isChanged = writer.Apply(changes);
        writer.TryShrink();

        var gained = writer.Ids - before;
        var isSameReference = writer.HasPages && old.Root == writer._set.Root && old.LastPage == writer._set.LastPage
            && old.Ids == writer._set.Ids && old.Pages == writer._set.Pages && old.Depth == writer._set.Depth;
        state.NestedValues += gained;
        state.NestedPages += (long)writer._set.Pages - old.Pages;
        state.Changed |= gained != 0 || writer._set.Pages != old.Pages;
        if (isChanged && !isSameReference)
            writer.Store();
        return gained;
    }

    private readonly long Ids => HasPages ? _set.Ids : _count;

    // Computed only for sets with pages of their own, because hashing a long key takes time.
    private readonly IdSetMarks Marks => IdSetMarks.Of(_pages, _state.TreeId, _key);

    /// <summary>Reads the record of the key, and returns the number of ids.</summary>
    private long Load()
    {
        var behind = Find();
        if (behind == null)
            return 0;
        if (*(ExtendedForm*)behind == ExtendedForm.IdSet)
            _set = *(IdSetReference*)behind;
        else
            _count = InlineIds.Unpack(_pages, behind, _length, _ids, _payloads);
        IdSetErrors.CheckClaims(_pages, (Ids, _set.Pages), (_state.NestedValues, _state.NestedPages));
        return Ids;
    }

    /// <summary>Finds the record of the key, and returns the bytes after the key; null if there is no record.</summary>
    private byte* Find()
    {
        if (_state.Root.IsNone)
            return null;
        fixed (byte* bytes = _key)
        {
            var search = new SearchKey(bytes, _key.Length);
            TreeReader.Descend(_state, _pages, search, out var path);
            _leaf = path.Page(path.LeafLevel);
            var leaf = TreePages.ReadLeaf(_pages, _leaf);
            _index = LeafPage.Search(leaf, search);
            return _index < 0 ? null : IdTreeReader.Behind(SlottedPage.Record(leaf, _index), out _length);
        }
    }

    /// <summary>Applies the changes; returns false if there is nothing to store.</summary>
    private bool Apply(scoped ReadOnlySpan<IdChange> changes)
    {
        var isChanged = HasPages;
        while (!changes.IsEmpty)
        {
            if (HasPages)
            {
                IdSetWriter.Apply(_pages, Marks, ref _set, changes);
                _count = 0;
                if (HasPages && _set.Ids <= 0)
                    IdSetErrors.ThrowCount(_pages, _set.Ids, _set.Pages);
                return true;
            }

            var some = changes[..Math.Min(changes.Length, IdBlock.MaxIds)];
            isChanged |= Merge(some);
            changes = changes[some.Length..];
            if (!FitsIntoLeaf())
                MoveToPages();
        }

        return isChanged;
    }

    private readonly bool FitsIntoLeaf() => _count <= 1 || (_count <= IdBlock.MaxIds
        && FewIdsHeader.RecordBytes(IdBlock.Measure(_ids, _payloads, _count)) <= FewIdsHeader.MaxBytes);

    [SkipLocalsInit]
    private void MoveToPages()
    {
        Span<IdChange> all = stackalloc IdChange[IdContent.MaxIds];
        for (var i = 0; i < _count; i++)
            all[i] = new IdChange(_ids[i], _payloads[i]);
        IdSetWriter.Apply(_pages, Marks, ref _set, all[.._count]);
        _count = 0;
    }

    /// <summary>Merges changes into the ids of the leaf; returns false if they change nothing.</summary>
    [SkipLocalsInit]
    private bool Merge(scoped ReadOnlySpan<IdChange> changes)
    {
        var old = stackalloc long[IdBlock.MaxIds];
        var oldPayloads = stackalloc byte[IdBlock.MaxIds];
        var count = _count;
        Unsafe.CopyBlockUnaligned(old, _ids, (uint)count * sizeof(long));
        Unsafe.CopyBlockUnaligned(oldPayloads, _payloads, (uint)count);
        var isChanged = false;
        var at = 0;
        _count = 0;
        foreach (var change in changes)
        {
            for (; at < count && old[at] < change.Id; at++)
                Take(old[at], oldPayloads[at]);
            var isThere = at < count && old[at] == change.Id;
            isChanged |= change.IsRemoval ? isThere : !isThere || oldPayloads[at] != change.Payload;
            if (!change.IsRemoval)
                Take(change.Id, (byte)change.Payload);
            at += isThere ? 1 : 0;
        }

        for (; at < count; at++)
            Take(old[at], oldPayloads[at]);
        return isChanged;
    }

    private void Take(long id, byte payload)
    {
        _ids[_count] = id;
        _payloads[_count++] = payload;
    }

    /// <summary>Moves the ids of a small set into the leaf, and frees the set's pages.</summary>
    [SkipLocalsInit]
    private void TryShrink()
    {
        if (!HasPages || _set.Ids >= FewIds)
            return;
        var count = IdSetReader.ReadAll(_pages, _set, _ids, _payloads, FewIds);
        var record = stackalloc byte[FewIdsHeader.MaxBytes];
        if (InlineIds.Write(record, _ids, _payloads, count, ComfortableBytes) == 0)
            return;
        IdSetWriter.FreeAll(_pages, Marks, ref _set);
        _count = count;
    }

    [SkipLocalsInit]
    private void Store()
    {
        if (Ids == 0)
        {
            if (_index >= 0 && !PlantedFault.KeepEmptySet)
                TreeWriter.DeleteRecord(_pages, _state, _key);
            return;
        }

        var record = stackalloc byte[FewIdsHeader.MaxBytes];
        var length = IdSetReference.Size;
        if (HasPages)
        {
            _set.Form = ExtendedForm.IdSet;
            *(IdSetReference*)record = _set;
        }
        else
        {
            length = InlineIds.Write(record, _ids, _payloads, _count, FewIdsHeader.MaxBytes);
        }

        var behind = new ReadOnlySpan<byte>(record, length);
        if (_index >= 0 && length == _length)
            Overwrite(behind);
        else
            TreeWriter.PutExtended(_pages, _state, _key, behind);
    }

    private readonly void Overwrite(ReadOnlySpan<byte> behind)
    {
        var leaf = _pages.Modify(_leaf);
        var place = LeafPage.InlineBytes(SlottedPage.Record(leaf.Bytes, _index));
        behind.CopyTo(new Span<byte>(place, behind.Length));
        leaf.MarkDirty((int)(place - leaf.Bytes), behind.Length);
    }
}
