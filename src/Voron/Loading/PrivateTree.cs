using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Loading;

/// <summary>Builds one plain tree among private trees, fastest in key order. Used by one thread at a time.</summary>
/// <param name="trees">The trees to which it belongs.</param>
/// <param name="name">The name of the tree.</param>
/// <param name="target">That tree, which is empty or does not exist.</param>
internal sealed class PrivateTree(PrivateTrees trees, byte[] name, in LoadTarget target)
{
    private readonly bool _isNew = target.IsNew;
    private readonly TreeState _state = new(target.Header);

    // The values that no entry has so far, by their first pages.
    private readonly Dictionary<long, LargeExtentReference> _stored = [];

    private LargeExtentReference _last;

    /// <summary>Puts an entry.</summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (TryStore(value, int.MaxValue) is { IsEmpty: false } reference)
        {
            PutStored(key, reference);
            return;
        }

        TreeWriter.Put(trees.Pages, _state, key, value);
        trees.Pages.Trim();
    }

    /// <inheritdoc cref="OrderedLoad.TryStore"/>
    public ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted)
    {
        if (value.Length < trees.Engine.Options.LargeValueBytes && value.Length <= mostSorted)
            return default;
        _stored.EnsureCapacity(_stored.Count + 1);
        var (first, checksums) = trees.WriteValue(value);
        _last = ValueExtents.Describe(trees.Pages, first, value.Length, checksums, _state.Root);
        _stored.Add(first, _last);
        trees.Pages.Trim();
        return MemoryMarshal.AsBytes(new ReadOnlySpan<LargeExtentReference>(in _last));
    }

    /// <summary>Puts an entry whose value has been stored.</summary>
    /// <inheritdoc cref="OrderedLoad.AddStored"/>
    public void PutStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference)
    {
        var value = MemoryMarshal.Read<LargeExtentReference>(reference);
        _stored.Remove(value.FirstPage);
        TreeWriter.PutLargeExtent(trees.Pages, _state, key, value);
        trees.Pages.Trim();
    }

    /// <summary>Deletes an entry.</summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public void Delete(ReadOnlySpan<byte> key)
    {
        TreeWriter.Delete(trees.Pages, _state, key);
        trees.Pages.Trim();
    }

    /// <summary>Frees the values of entries that were never put: they have lost against others with the same key.</summary>
    public void FreeUnused()
    {
        foreach (var value in _stored.Values)
        {
            _state.OverflowPages += ValueExtents.CountPages(trees.Pages, value);
            ValueExtents.FreeLargeExtent(trees.Pages, _state, value);
        }

        _stored.Clear();
    }

    /// <inheritdoc cref="WriteTransactionBody.TryAdopt"/>
    public bool TryAdopt(WriteTransactionBody body) => body.TryAdopt(name, _state.ToHeader(), _isNew);
}
