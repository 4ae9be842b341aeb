using System.Buffers.Binary;
using Voron.Sorting;
using Voron.Transactions;
using Voron.Trees.Pages;

namespace Voron.Loading;

/// <summary>Finds keys that two rows share, by sorting all keys in bounded memory.</summary>
internal sealed class DuplicateKeyFinder : IDisposable
{
    private readonly EntrySorter _sorter;
    private readonly byte[] _key;
    private readonly int _mostFound;

    /// <param name="engine">The environment.</param>
    /// <param name="memoryBytes">The memory for sorting; keys beyond it go to a temporary file.</param>
    /// <param name="mostFound">The maximum number of row pairs to return.</param>
    /// <param name="stop">Cancels the sort.</param>
    public DuplicateKeyFinder(ReadingEngine engine, long memoryBytes, int mostFound, CancellationToken stop)
    {
        _mostFound = mostFound;
        _key = new byte[sizeof(int) + TreeLimits.MaxKeyLength(engine.PageSize)];
        var options = new SortOptions
        {
            MemoryBytes = memoryBytes,
            LongestKeyBytes = _key.Length,
            Duplicates = null,
            Cancellation = stop,
        };
        _sorter = new EntrySorter(engine.Memory.TemporaryFiles, options);
    }

    /// <summary>Adds a key of a row in an index.</summary>
    /// <inheritdoc cref="EntrySorter.Add"/>
    public void Add(int slot, ReadOnlySpan<byte> key, long rowId)
    {
        BinaryPrimitives.WriteInt32BigEndian(_key, slot);
        key.CopyTo(_key.AsSpan(sizeof(int)));
        Span<byte> value = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(value, rowId);
        _sorter.Add(_key.AsSpan(0, sizeof(int) + key.Length), value);
    }

    /// <summary>
    /// Ends the adding, and returns the pairs of rows that share a key, in the order of their second rows. The first one was added before.
    /// </summary>
    /// <inheritdoc cref="EntrySorter.Complete"/>
    public IReadOnlyList<(int Slot, long First, long Second)> Find()
    {
        var entries = _sorter.Complete();
        var found = new HashSet<(int Slot, long First, long Second)>();
        var (length, first) = (0, 0L);
        while (found.Count < _mostFound && entries.MoveNext())
        {
            var rowId = BinaryPrimitives.ReadInt64BigEndian(entries.Value);
            if (entries.Key.SequenceEqual(_key.AsSpan(0, length)))
            {
                if (rowId != first)
                    found.Add((BinaryPrimitives.ReadInt32BigEndian(entries.Key), first, rowId));
                continue;
            }

            entries.Key.CopyTo(_key);
            (length, first) = (entries.Key.Length, rowId);
        }

        return [.. found.OrderBy(static pair => pair.Second)];
    }

    public void Dispose() => _sorter.Dispose();
}
