using System.Diagnostics;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Sorting;

/// <summary>A piece of memory that is filled with entries, and then sorted as a whole.</summary>
/// <remarks>
/// <code>
///   keys and values in order of arrival ─▶   ...   ◀─ items, the newest first        while it is filled
///   keys and values | heads in key order | unused  |  items in key order             when it is sorted, each key once
/// </code>
/// One thread at a time uses it. The sort is offered to the thread pool, and has ended after <see cref="Settle"/>.
/// </remarks>
internal sealed unsafe class SortChunk : OfferedWork, IDisposable
{
    /// <summary>The length of a chunk is a multiple of this.</summary>
    public const int Alignment = 4096;

    /// <summary>The bytes for an entry besides its key and its value: its item, its head, and the padding before the heads.</summary>
    public const int BytesBeside = BytesOfEntry + sizeof(ulong);

    private const int BytesOfEntry = SortItem.Size + sizeof(ulong);

    private readonly SortContext _context;
    private readonly int _capacity;
    private byte* _bytes;
    private int _used;
    private bool _isAscending;
    private bool _isPending;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public SortChunk(SortContext context)
    {
        _context = context;
        _capacity = context.Sizes.ChunkBytes;
        _bytes = (byte*)context.Memory.Resize(null, (nuint)_capacity);
        Clear();
    }

    /// <summary>The number of entries.</summary>
    public int Count { get; private set; }

    /// <summary>The number of bytes that all keys share at their beginning, once the chunk is sorted.</summary>
    public int Prefix { get; private set; }

    /// <summary>The keys and values, to which the items refer.</summary>
    public byte* Bytes => _bytes;

    /// <summary>The items; once the chunk is sorted, in key order.</summary>
    public SortItem* Items => (SortItem*)(_bytes + _capacity) - Count;

    /// <summary>The first eight bytes of each key after the prefix, once the chunk is sorted.</summary>
    public ulong* Heads { get; private set; }

    public ReadOnlySpan<byte> FirstKey => KeyOf(Items[0]);

    public ReadOnlySpan<byte> LastKey => KeyOf(Items[Count - 1]);

    /// <summary>Appends a copy of an entry; returns false if there is no room.</summary>
    public bool TryAdd(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if ((long)_used + key.Length + value.Length + sizeof(ulong) > _capacity - (Count + 1L) * BytesOfEntry)
            return false;
        if (_isAscending && Count > 0)
            _isAscending = KeyOf(Items[0]).SequenceCompareTo(key) < 0;
        key.CopyTo(new Span<byte>(_bytes + _used, key.Length));
        value.CopyTo(new Span<byte>(_bytes + _used + key.Length, value.Length));
        Count++;
        *Items = new SortItem(_used, key.Length, value.Length);
        _used += key.Length + value.Length;
        return true;
    }

    /// <summary>Offers to sort the entries.</summary>
    public void BeginSort()
    {
        _isPending = true;
        Offer(_context.Options.UsesPool);
    }

    /// <summary>Waits until the entries are sorted, or sorts them here.</summary>
    /// <exception cref="DuplicateEntryException">Two entries have the same key, which is refused.</exception>
    public void Settle()
    {
        if (!_isPending)
            return;
        _isPending = false;
        if (End() is { } failure)
            ExceptionDispatchInfo.Throw(failure);
    }

    /// <summary>Removes all entries.</summary>
    public void Clear()
    {
        Debug.Assert(!_isPending, "A chunk must be settled before it is filled again.");
        EngineMemory.Spoil(new Span<byte>(_bytes, _used));
        _used = Count = 0;
        _isAscending = true;
    }

    /// <summary>Frees the memory, when the sort has ended or has been withdrawn.</summary>
    public void Dispose()
    {
        Cancel();
        if (_isPending)
            End();
        _isPending = false;
        _context.Memory.Free(_bytes);
        _bytes = null;
    }

    protected override void Work()
    {
        try
        {
            _context.Check();
            Heads = (ulong*)(_bytes + DiskRules.RoundUp(_used, sizeof(ulong)));
            var items = new Span<SortItem>(Items, Count);
            var heads = new Span<ulong>(Heads, Count);
            if (_isAscending)
            {
                items.Reverse();
                Prefix = FirstKey.CommonPrefixLength(LastKey);
                for (var i = 0; i < items.Length; i++)
                    heads[i] = KeySorter.Head(_bytes + items[i].Offset + Prefix, items[i].KeyLength - Prefix);
            }
            else
            {
                Prefix = KeySorter.Sort(items, heads, _bytes);
                RemoveDuplicates(items, heads);
            }
        }
        catch (Exception e) when (_context.Fail(e))
        {
            throw;
        }
    }

    // The items stay at the end of the chunk: those that are kept are moved there from the last to the first.
    private void RemoveDuplicates(Span<SortItem> items, Span<ulong> heads)
    {
        var rule = _context.Options.Duplicates;
        var kept = items.Length;
        for (var i = items.Length - 1; i >= 0; i--)
        {
            if (kept == items.Length || heads[i] != heads[kept] || !KeyOf(items[i]).SequenceEqual(KeyOf(items[kept])))
                kept--;
            else if (rule == DuplicateKeys.Refused)
                throw new DuplicateEntryException(KeyOf(items[i]).ToArray());
            else if (rule == DuplicateKeys.LastWins)
                continue;
            items[kept] = items[i];
            heads[kept] = heads[i];
        }

        Heads += kept;
        Count -= kept;
    }

    private ReadOnlySpan<byte> KeyOf(in SortItem item) => new(_bytes + item.Offset, item.KeyLength);
}

/// <summary>The place of an entry in its chunk: the key, followed by the value.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 4)]
internal readonly struct SortItem(int offset, int keyLength, int valueLength) : IKeyedItem
{
    /// <summary>In bytes.</summary>
    public const int Size = 12;

    public int Offset { get; } = offset;

    public int KeyLength { get; } = keyLength;

    public int ValueLength { get; } = valueLength;
}
