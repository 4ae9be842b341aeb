using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Sorting;

/// <summary>A piece of memory that is filled with entries, and then sorted as a whole.</summary>
/// <remarks>
/// <code>
///   entries in order of arrival ─▶ | heads, for the sort |  ◀─ items, the newest first       while it is filled
///   entries in key order, each key once unless all are kept | unused                         when it is sorted
/// </code>
/// An entry is the lengths of its key and its value, 4 bytes each, the key, and the value. Sorted entries are copied into another piece of memory, so
/// that a merge reads each chunk from its beginning to its end. Entries that arrive in key order are left where they are.
///
/// One thread at a time uses it. The sort is offered to the thread pool, and has ended after <see cref="Settle"/>.
/// </remarks>
internal sealed unsafe class SortChunk : OfferedWork, IDisposable
{
    /// <summary>The bytes before the key of an entry.</summary>
    public const int EntryHeader = 2 * sizeof(int);

    // Its item and its head.
    private const int BytesBesideEntry = SortItem.Size + sizeof(ulong);

    // Sorted entries are anywhere in memory: they are prefetched this many entries before they are copied.
    private const int EntriesAhead = 8;

    private readonly SortContext _context;
    private readonly int _capacity;
    private byte* _bytes;
    private int _used;
    private int _last;
    private bool _isAscending;
    private bool _isPending;

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public SortChunk(SortContext context)
    {
        _context = context;
        _capacity = context.Sizes.ChunkBytes;
        _bytes = context.Chunks.Allocate();
        Clear();
    }

    /// <summary>The number of entries.</summary>
    public int Count { get; private set; }

    /// <summary>The first entry.</summary>
    public byte* EntriesStart => _bytes;

    /// <summary>The end of the last entry.</summary>
    public byte* EntriesEnd => _bytes + _used;

    /// <summary>The first key, once the chunk is sorted.</summary>
    public ReadOnlySpan<byte> FirstKey => KeyAt(_bytes);

    /// <summary>The last key, once the chunk is sorted.</summary>
    public ReadOnlySpan<byte> LastKey => KeyAt(_bytes + _last);

    private SortItem* Items => (SortItem*)(_bytes + _capacity) - Count;

    /// <summary>Returns the length of the key of an entry.</summary>
    public static int KeyLengthAt(byte* entry) => Unsafe.ReadUnaligned<int>(entry);

    /// <summary>Returns the length of the value of an entry.</summary>
    public static int ValueLengthAt(byte* entry) => Unsafe.ReadUnaligned<int>(entry + sizeof(int));

    /// <summary>Appends a copy of an entry; returns false if there is no room.</summary>
    public bool TryAdd(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if ((long)_used + key.Length + value.Length + sizeof(ulong) + EntryHeader > _capacity - (Count + 1L) * BytesBesideEntry)
            return false;
        if (_isAscending && Count > 0)
            _isAscending = LastKey.SequenceCompareTo(key) < 0;
        var entry = _bytes + _used;
        Unsafe.WriteUnaligned(entry, key.Length);
        Unsafe.WriteUnaligned(entry + sizeof(int), value.Length);
        key.CopyTo(new Span<byte>(entry + EntryHeader, key.Length));
        value.CopyTo(new Span<byte>(entry + EntryHeader + key.Length, value.Length));
        Count++;
        *Items = new SortItem(_used + EntryHeader, key.Length);
        _last = _used;
        _used += EntryHeader + key.Length + value.Length;
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
    /// <exception cref="OutOfMemoryException">There is no memory for the sorted entries.</exception>
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
            if (_isAscending)
                return;
            var items = new Span<SortItem>(Items, Count);
            var heads = new Span<ulong>(_bytes + DiskRules.RoundUp(_used, sizeof(ulong)), Count);
            KeySorter.Sort(items, heads, _bytes);
            using (Uninterrupted.Hold(_context.Chunks.Gate))
            {
                CopyTo(_context.Chunks.TakeSpare(), items, heads);
                _bytes = _context.Chunks.Exchange(_bytes);
            }
        }
        catch (Exception e) when (_context.Fail(e))
        {
            throw;
        }
    }

    // Items with the same key follow each other in order of arrival.
    private void CopyTo(byte* target, ReadOnlySpan<SortItem> items, ReadOnlySpan<ulong> heads)
    {
        var rule = _context.Options.Duplicates;
        var keepsAll = rule == null;
        var (used, last, count) = (0, 0, 0);
        for (var i = 0; i < items.Length; i++)
        {
            if (i + EntriesAhead < items.Length)
                Prefetch(items[i + EntriesAhead]);
            if (!keepsAll && i > 0 && heads[i] == heads[i - 1] && KeyOf(items[i]).SequenceEqual(KeyOf(items[i - 1])))
            {
                if (rule == DuplicateKeys.Refuse)
                    throw new DuplicateEntryException(KeyOf(items[i]).ToArray());
                if (rule == DuplicateKeys.FirstWins)
                    continue;
                used = last;
                count--;
            }

            var entry = _bytes + items[i].Offset - EntryHeader;
            var length = EntryHeader + items[i].KeyLength + ValueLengthAt(entry);
            new ReadOnlySpan<byte>(entry, length).CopyTo(new Span<byte>(target + used, length));
            last = used;
            used += length;
            count++;
        }

        (_used, _last, Count) = (used, last, count);
    }

    // A processor follows a longer entry on its own.
    private void Prefetch(in SortItem item) =>
        CacheLines.PrefetchRange(_bytes + item.Offset - EntryHeader, item.KeyLength + 2 * CacheLines.LineBytes);

    private static ReadOnlySpan<byte> KeyAt(byte* entry) => new(entry + EntryHeader, KeyLengthAt(entry));

    private ReadOnlySpan<byte> KeyOf(in SortItem item) => new(_bytes + item.Offset, item.KeyLength);
}

/// <summary>The key of an entry in its chunk.</summary>
[StructLayout(LayoutKind.Sequential)]
internal readonly struct SortItem(int offset, int keyLength) : IKeyedItem
{
    /// <summary>In bytes.</summary>
    public const int Size = 8;

    public int Offset { get; } = offset;

    public int KeyLength { get; } = keyLength;
}
