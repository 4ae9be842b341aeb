namespace Voron.Trees;

/// <summary>Receives the entries that a layer above adds to a tree and removes from it.</summary>
internal interface IEntryListener
{
    /// <summary>Notes that an entry was added to the tree or removed from it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="id">Distinguishes entries with equal keys.</param>
    /// <param name="wasThere">True if a query would have found it before: it was removed, and counted until then.</param>
    void Note(ReadOnlySpan<byte> key, long id, bool wasThere);
}
