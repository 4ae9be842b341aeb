namespace Voron.Sorting;

/// <summary>The sorted entries of an <see cref="EntrySorter"/>, which owns them. Read by one thread at a time.</summary>
internal sealed unsafe class SortedEntries(SortContext context, StreamMerger merger)
{
    /// <summary>The current key. Valid until the next move, or the disposal of the sorter.</summary>
    public ReadOnlySpan<byte> Key => merger.Current.KeySpan;

    /// <summary>The current value, valid as long as the key.</summary>
    public ReadOnlySpan<byte> Value => new(merger.Current.Value, merger.Current.ValueLength);

    /// <summary>The number of entries so far.</summary>
    public long Count { get; private set; }

    /// <summary>Moves to the first entry, or to the next one in key order. Returns false after the last one.</summary>
    /// <exception cref="DuplicateEntryException">Two entries have the same key, which is refused.</exception>
    /// <exception cref="CorruptionException">The spill file is damaged.</exception>
    /// <exception cref="StorageAccessException">The spill file cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The caller has cancelled the sort.</exception>
    /// <exception cref="ObjectDisposedException">The sorter was disposed.</exception>
    public bool MoveNext()
    {
        context.Check();
        try
        {
            if (!merger.MoveNext())
                return false;
        }
        catch (Exception e) when (context.Fail(e))
        {
            throw;
        }

        Count++;
        return true;
    }
}
