using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Sorting;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Loading;

/// <summary>Builds one index of a table among private trees, from keys in any order: a tree of entries if it is unique, or else of id sets.</summary>
/// <remarks>
/// <code>
///   Add, in any order ─▶ Build: sorted, and put into the tree ─▶ Put and Remove: single changes ─▶ TryAdopt
/// </code>
/// Used by one thread at a time.
/// </remarks>
internal sealed class IndexLoad : IDisposable
{
    private const int MostGathered = 4096;

    private readonly PrivatePages _pages;
    private readonly byte[] _name;
    private readonly int _idBytes;
    private readonly TreeState _state;
    private readonly EntrySorter _sorter;
    private readonly List<IdChange> _gathered = [];
    private readonly HashSet<long> _displaced = [];

    /// <param name="trees">The trees to which the index belongs.</param>
    /// <param name="name">The name of its tree.</param>
    /// <param name="target">The header of that tree, which is empty.</param>
    /// <param name="idBytes">The number of bytes of an id, as a value in a unique index: big-endian.</param>
    /// <param name="memoryBytes">The memory for sorting.</param>
    /// <param name="stop">Cancels the sort.</param>
    public IndexLoad(PrivateTrees trees, byte[] name, in TreeHeader target, int idBytes, long memoryBytes, CancellationToken stop)
    {
        _idBytes = idBytes;
        _pages = trees.Pages;
        _name = name;
        _state = new TreeState(target);
        var sort = new SortOptions
        {
            MemoryBytes = memoryBytes,
            LongestKeyBytes = TreeLimits.MaxKeyLength(_pages.PageSize),
            Duplicates = null,
            Cancellation = stop,
        };
        _sorter = new EntrySorter(trees.TemporaryFiles, sort);
    }

    /// <summary>The ids that have lost a unique key to another id, which was added later unless the first one wins.</summary>
    public IReadOnlySet<long> Displaced => _displaced;

    /// <inheritdoc cref="EntrySorter.SpilledBytes"/>
    public long SpilledBytes => _sorter.SpilledBytes;

    private bool IsUnique => _state.Kind == TreeKind.Plain;

    /// <summary>Adds a key of an id.</summary>
    /// <param name="key">The key.</param>
    /// <param name="id">The id; negative to remove the key from the id that was added before, which is displaced: only in a unique index.</param>
    /// <param name="isLater">True to keep the key even if <see cref="Build"/> leaves out the id.</param>
    /// <inheritdoc cref="EntrySorter.Add"/>
    public void Add(ReadOnlySpan<byte> key, long id, bool isLater = false)
    {
        Span<byte> value = stackalloc byte[sizeof(long) + 1];
        BinaryPrimitives.WriteInt64BigEndian(value, id);
        value[sizeof(long)] = isLater ? (byte)1 : (byte)0;
        _sorter.Add(key, value);
    }

    /// <summary>Builds the tree from the keys.</summary>
    /// <param name="isLeftOut">Returns whether the keys of an id are left out, unless they were added as later ones; null if none are.</param>
    /// <param name="duplicates">Which id has a unique key that was added with several ids.</param>
    /// <returns>
    /// If that is refused, the first key in key order that two ids have, and these ids in order of arrival: the tree is not complete then.
    /// </returns>
    /// <inheritdoc cref="EntrySorter.Complete"/>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public (byte[] Key, long First, long Second)? Build(Func<long, bool>? isLeftOut, DuplicateKeys duplicates = DuplicateKeys.LastWins)
    {
        var entries = _sorter.Complete();
        var lastKey = new byte[TreeLimits.MaxKeyLength(_pages.PageSize)];
        var (lastLength, lastId) = (-1, 0L);
        while (entries.MoveNext())
        {
            var id = BinaryPrimitives.ReadInt64BigEndian(entries.Value);
            if (isLeftOut != null && entries.Value[sizeof(long)] == 0 && isLeftOut(id))
                continue;
            var isRepeated = lastLength >= 0 && entries.Key.SequenceEqual(lastKey.AsSpan(0, lastLength));
            if (IsUnique)
            {
                if (isRepeated && lastId >= 0)
                {
                    if (duplicates == DuplicateKeys.Refuse)
                        return (entries.Key.ToArray(), lastId, id);
                    _displaced.Add(duplicates == DuplicateKeys.FirstWins ? id : lastId);
                    if (duplicates == DuplicateKeys.FirstWins)
                        continue;
                }

                if (id >= 0)
                    PutId(entries.Key, id);
                else if (isRepeated)
                    TreeWriter.Delete(_pages, _state, entries.Key);
            }
            else if (!isRepeated || _gathered.Count == MostGathered)
            {
                StoreGathered(lastKey.AsSpan(0, Math.Max(lastLength, 0)));
            }

            if (!IsUnique)
                _gathered.Add(new IdChange(id, Payload: 0));
            if (!isRepeated)
            {
                entries.Key.CopyTo(lastKey);
                lastLength = entries.Key.Length;
            }

            lastId = id;
        }

        StoreGathered(lastKey.AsSpan(0, Math.Max(lastLength, 0)));

        // The memory and the temporary file are not needed any more.
        _sorter.Dispose();
        return null;
    }

    /// <summary>Adds a key of an id to the tree, which is built.</summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public void Put(ReadOnlySpan<byte> key, long id)
    {
        if (!IsUnique)
        {
            Change(key, new IdChange(id, Payload: 0));
            return;
        }

        if (TreeReader.TryGet(_state, _pages, key, out var stored) && IdOf(stored) is var other && other != id)
            _displaced.Add(other);
        PutId(key, id);
    }

    /// <summary>Removes a key of an id from the tree, which is built, unless another id has it now.</summary>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public void Remove(ReadOnlySpan<byte> key, long id)
    {
        if (!IsUnique)
        {
            Change(key, new IdChange(id, IdChange.Removal));
        }
        else if (TreeReader.TryGet(_state, _pages, key, out var stored) && IdOf(stored) == id)
        {
            TreeWriter.Delete(_pages, _state, key);
            _pages.Trim();
        }
    }

    /// <inheritdoc cref="WriteTransactionBody.TryAdopt"/>
    public bool TryAdopt(WriteTransactionBody body) => body.TryAdopt(_name, _state.ToHeader(), isNew: false);

    public void Dispose() => _sorter.Dispose();

    private static long IdOf(ReadOnlySpan<byte> value)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        bytes.Clear();
        value.CopyTo(bytes[^value.Length..]);
        return BinaryPrimitives.ReadInt64BigEndian(bytes);
    }

    private void PutId(ReadOnlySpan<byte> key, long id)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(bytes, id);
        TreeWriter.Put(_pages, _state, key, bytes[^_idBytes..]);
        _pages.Trim();
    }

    private void Change(ReadOnlySpan<byte> key, in IdChange change)
    {
        IdTreeWriter.Apply(_pages, _state, key, new ReadOnlySpan<IdChange>(in change));
        _pages.Trim();
    }

    // Ids of a key arrive in ascending order, except for later ones.
    private void StoreGathered(ReadOnlySpan<byte> key)
    {
        if (_gathered.Count == 0)
            return;
        var changes = CollectionsMarshal.AsSpan(_gathered);
        if (!IdChange.AreInOrder(changes))
            changes.Sort(static (left, right) => left.Id.CompareTo(right.Id));
        IdTreeWriter.Apply(_pages, _state, key, changes);
        _gathered.Clear();
        _pages.Trim();
    }
}
