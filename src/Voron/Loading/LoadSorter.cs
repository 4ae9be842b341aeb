using Voron.Sorting;
using Voron.Trees.Pages;

namespace Voron.Loading;

/// <summary>Sorts the entries of a bulk load, and then stores them in key order. Used by one thread at a time.</summary>
/// <remarks>
/// A sorted value ends with a byte that says whether it is the value itself, or the reference to a long one, which is stored as it arrives: sorting
/// it would write it twice.
/// </remarks>
internal sealed class LoadSorter : IDisposable
{
    private const byte Whole = 0;
    private const byte Stored = 1;

    private readonly EntrySorter _sorter;
    private readonly OrderedLoad _load;
    private byte[] _value = [];
    private SortedEntries? _sorted;

    /// <param name="trees">The pages of the load.</param>
    /// <param name="options">Valid options.</param>
    /// <param name="load">Stores the entries.</param>
    /// <param name="stop">Cancels the sort.</param>
    public LoadSorter(PrivateTrees trees, BulkLoadOptions options, OrderedLoad load, CancellationToken stop)
    {
        _load = load;
        var sort = new SortOptions
        {
            MemoryBytes = options.MemoryBytes ?? trees.Engine.Options.BulkLoadMemoryBytes,
            LongestKeyBytes = TreeLimits.MaxKeyLength(trees.Engine.PageSize),
            Duplicates = options.Duplicates,
            Cancellation = stop,
        };
        _sorter = new EntrySorter(trees.TemporaryFiles, sort);
    }

    /// <inheritdoc cref="EntrySorter.SpilledBytes"/>
    public long SpilledBytes => _sorter.SpilledBytes;

    /// <inheritdoc cref="EntrySorter.Add"/>
    /// <inheritdoc cref="OrderedLoad.TryStore"/>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (_load.TryStore(value, _sorter.MaxEntryBytes - key.Length - 1) is { IsEmpty: false } reference)
            AddMarked(key, reference, Stored);
        else
            AddMarked(key, value, Whole);
    }

    /// <summary>Ends the adding.</summary>
    /// <inheritdoc cref="EntrySorter.Complete"/>
    public void Complete() => _sorted = _sorter.Complete();

    /// <summary>Stores the next entry in key order; false if there is none.</summary>
    /// <inheritdoc cref="SortedEntries.MoveNext"/>
    /// <inheritdoc cref="OrderedLoad.Add"/>
    public bool StoreNext()
    {
        if (!_sorted!.MoveNext())
            return false;
        var value = _sorted.Value;
        if (value[^1] == Whole)
            _load.Add(_sorted.Key, value[..^1]);
        else
            _load.AddStored(_sorted.Key, value[..^1]);
        return true;
    }

    public void Dispose() => _sorter.Dispose();

    private void AddMarked(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, byte mark)
    {
        if (_value.Length <= value.Length)
            _value = new byte[Math.Max(1024, value.Length + 1)];
        value.CopyTo(_value);
        _value[value.Length] = mark;
        _sorter.Add(key, _value.AsSpan(0, value.Length + 1));
    }
}
