using Voron.Testing;

namespace Voron.Primitives;

/// <summary>The objects that commits have attached to a state, each with its key; null for none.</summary>
/// <remarks>
/// A set is immutable: a transaction that attaches or removes an object creates another one. Snapshots, savepoints and records therefore share it by
/// reference, and many threads read it without a lock. Searches are linear, since an environment has a few keys at most.
/// </remarks>
internal sealed class AttachedObjects
{
    private readonly Entry[] _entries;

    private AttachedObjects(Entry[] entries) => _entries = entries;

    /// <summary>Returns the object with that key, or null.</summary>
    public static object? Find(AttachedObjects? states, object key)
    {
        if (states == null)
            return null;
        var at = states.IndexOf(key);
        return at < 0 ? null : states._entries[at].State;
    }

    /// <summary>Returns a set with another object for a key; the same set if the key already has that object.</summary>
    /// <param name="states">The set, which does not change; null for an empty one.</param>
    /// <param name="key">The key, compared by reference.</param>
    /// <param name="state">The object; null to remove the key.</param>
    public static AttachedObjects? With(AttachedObjects? states, object key, object? state)
    {
        var entries = states?._entries ?? [];
        var at = states?.IndexOf(key) ?? -1;
        if (state == null)
        {
            if (at < 0)
                return states;
            return entries.Length == 1 ? null : new AttachedObjects([.. entries[..at], .. entries[(at + 1)..]]);
        }

        if (at < 0)
            return new AttachedObjects([.. entries, new Entry(key, state)]);
        if (ReferenceEquals(entries[at].State, state))
            return states;
        entries = PlantedFault.PublishStateEarly ? entries : [.. entries];
        entries[at] = new Entry(key, state);
        return new AttachedObjects(entries);
    }

    private int IndexOf(object key)
    {
        for (var i = 0; i < _entries.Length; i++)
        {
            if (ReferenceEquals(_entries[i].Key, key))
                return i;
        }

        return -1;
    }

    private readonly record struct Entry(object Key, object State);
}
