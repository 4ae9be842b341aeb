using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Loading;

/// <summary>Builds one plain tree among private trees, fastest in key order. Used by one thread at a time.</summary>
internal sealed class PrivateTree
{
    private readonly PrivateTrees _trees;
    private readonly PrivatePages _pages;
    private readonly int _largeValueBytes;
    private readonly byte[] _name;
    private readonly bool _isNew;
    private readonly LoadPacker? _packer;
    private readonly TreeState _state;

    // The values that no entry has so far, by their first pages.
    private readonly Dictionary<long, LargeExtentReference> _stored = [];

    private LargeExtentReference _last;

    // True once a sort has brought values: all of them are samples then, before the first of them is put.
    private bool _isSorted;

    // True if another dictionary has got the number of one that values have.
    private bool _isOvertaken;

    /// <param name="trees">The trees to which it belongs.</param>
    /// <param name="name">The name of the tree.</param>
    /// <param name="target">That tree, which is empty or does not exist.</param>
    public PrivateTree(PrivateTrees trees, byte[] name, LoadTarget target)
    {
        _trees = trees;
        _pages = trees.Pages;
        _largeValueBytes = trees.Engine.Options.LargeValueBytes;
        _name = name;
        _isNew = target.IsNew;
        _packer = target.Compression == null ? null : new LoadPacker(target.Compression, trees.Stop);
        _state = new TreeState(target.Header) { Packer = _packer };
    }

    /// <summary>Puts an entry.</summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (value.Length >= _largeValueBytes)
        {
            PutStored(key, Store(value));
            return;
        }

        if (!_isSorted)
            _packer?.Sample(value);

        // An entry that is appended adds no page.
        if (_packer == null && TreeWriter.TryAppend(_pages, _state, key, value))
            return;
        TreeWriter.Put(_pages, _state, key, value);
        _pages.Trim();
    }

    /// <inheritdoc cref="OrderedLoad.TryStore"/>
    public ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted)
    {
        _isSorted = true;
        if (value.Length >= _largeValueBytes || value.Length > mostSorted)
            return Store(value);
        _packer?.Sample(value);
        return default;
    }

    private ReadOnlySpan<byte> Store(ReadOnlySpan<byte> value)
    {
        _stored.EnsureCapacity(_stored.Count + 1);
        var (first, checksums) = _trees.WriteValue(value);
        _last = ValueExtents.Describe(_pages, first, value.Length, checksums, _state.Root);
        _stored.Add(first, _last);
        _pages.Trim();
        return MemoryMarshal.AsBytes(new ReadOnlySpan<LargeExtentReference>(in _last));
    }

    /// <summary>Puts an entry whose value has been stored.</summary>
    /// <inheritdoc cref="OrderedLoad.AddStored"/>
    public void PutStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference)
    {
        var value = MemoryMarshal.Read<LargeExtentReference>(reference);
        _stored.Remove(value.FirstPage);
        TreeWriter.PutLargeExtent(_pages, _state, key, value);
        _pages.Trim();
    }

    /// <summary>Deletes an entry.</summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public void Delete(ReadOnlySpan<byte> key)
    {
        TreeWriter.Delete(_pages, _state, key);
        _pages.Trim();
    }

    /// <summary>Frees the values of entries that were never put: they have lost against others with the same key.</summary>
    public void FreeUnused()
    {
        foreach (var value in _stored.Values)
        {
            _state.OverflowPages += ValueExtents.CountPages(_pages, value);
            ValueExtents.FreeLargeExtent(_pages, _state, value);
        }

        _stored.Clear();
    }

    /// <summary>Installs the dictionaries of the values, each by a transaction of its own. Only the adoption comes after this.</summary>
    /// <inheritdoc cref="ShortCommit.RunAsync"/>
    public async ValueTask InstallDictionariesAsync(CancellationToken stop)
    {
        foreach (var trained in _packer?.Trained ?? [])
        {
            await ShortCommit.RunAsync(
                _trees.Area.Entrance, body => !(_isOvertaken |= !body.InstallDictionary(_state.TreeId, trained)), stop).ConfigureAwait(false);
        }
    }

    /// <inheritdoc cref="WriteTransactionBody.TryAdopt"/>
    public bool TryAdopt(WriteTransactionBody body) => !_isOvertaken && body.TryAdopt(_name, _state.ToHeader(), _isNew, _packer?.Numbers);
}
