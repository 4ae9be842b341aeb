using System.Diagnostics;

namespace Voron.Loading;

/// <summary>Stores the entries of a bulk load, which come in key order. Used by one thread at a time.</summary>
internal abstract class OrderedLoad : IDisposable
{
    /// <summary>True if all entries become visible in one commit.</summary>
    public abstract bool IsAtomic { get; }

    /// <summary>True if entries may come in any order after all, and with the same key again: the load itself has the rule for duplicates.</summary>
    public virtual bool TakesAnyOrder => false;

    /// <summary>The number of entries that were added, but not stored: the tree has their keys already, or others have won against them.</summary>
    public virtual long Passed => 0;

    /// <summary>The bytes of temporary files that the load has written.</summary>
    public virtual long SpilledBytes => 0;

    /// <summary>Adds an entry, whose key follows that of the last one, or is the same: then its value is replaced.</summary>
    /// <param name="key">A key that a tree can have.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    /// <exception cref="StorageAccessException">Pages could not be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public abstract void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Stores a value before its entry is added, so that only a reference to it has to be sorted.</summary>
    /// <param name="value">The value.</param>
    /// <param name="mostSorted">The length of the longest value that can be sorted.</param>
    /// <returns>The reference, for <see cref="AddStored"/>, valid until the next call; empty if the value has to be sorted.</returns>
    /// <inheritdoc cref="Add"/>
    public virtual ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted) => default;

    /// <summary>Adds an entry whose value has been stored. Those that are never added are given up.</summary>
    /// <inheritdoc cref="Add"/>
    public virtual void AddStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference) => throw new UnreachableException("No value was stored.");

    /// <summary>Makes the entries durable and visible.</summary>
    /// <inheritdoc cref="Add"/>
    public abstract ValueTask CompleteAsync(CancellationToken stop);

    public virtual void Dispose()
    {
    }
}
