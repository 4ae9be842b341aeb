using Voron.Simulation.Harness;
using Voron.Sorting;

namespace Voron.Simulation.Sorting;

/// <summary>What a sort must return: a sorted dictionary of the entries that were added.</summary>
internal sealed class SortModel(DuplicateKeys? rule)
{
    private readonly SortedDictionary<byte[], byte[]> _entries = new(new ByBytes());

    public int Count => _entries.Count;

    /// <summary>The bytes of keys and values.</summary>
    public long Bytes => _entries.Sum(static entry => (long)entry.Key.Length + entry.Value.Length);

    /// <summary>True if a key was added more than once.</summary>
    public bool HasDuplicates { get; private set; }

    public void Add(byte[] key, byte[] value)
    {
        if (_entries.TryAdd(key, value))
            return;
        HasDuplicates = true;
        if (rule == DuplicateKeys.LastWins)
            _entries[key] = value;
    }

    /// <summary>Whether the key was added.</summary>
    public bool Contains(byte[] key) => _entries.ContainsKey(key);

    /// <summary>Reads all entries, and compares each of them.</summary>
    /// <param name="entries">The entries of the sort, none of them read yet.</param>
    /// <param name="beforeMove">Called with the number of entries that were read, before the next one.</param>
    /// <exception cref="BrokenPromiseException">An entry is missing, is not in its place, or has other bytes.</exception>
    public void Check(SortedEntries entries, Action<int>? beforeMove = null)
    {
        var read = 0;
        foreach (var (key, value) in _entries)
        {
            beforeMove?.Invoke(read);
            if (!entries.MoveNext())
                throw new BrokenPromiseException($"the sort ends after {read} entries instead of {_entries.Count}");
            if (!entries.Key.SequenceEqual(key))
                throw new BrokenPromiseException($"entry {read} has the key {Text(entries.Key)} instead of {Text(key)}");
            if (!entries.Value.SequenceEqual(value))
                throw new BrokenPromiseException($"entry {read} has the value {Text(entries.Value)} instead of {Text(value)}");
            read++;
        }

        if (entries.MoveNext())
            throw new BrokenPromiseException($"the sort has more than {read} entries, such as {Text(entries.Key)}");
        if (entries.Count != read)
            throw new BrokenPromiseException($"the sort counts {entries.Count} entries instead of {read}");
    }

    private static string Text(ReadOnlySpan<byte> bytes) => $"{bytes.Length}:{Convert.ToHexString(bytes[..Math.Min(bytes.Length, 24)])}";

    private sealed class ByBytes : IComparer<byte[]>
    {
        public int Compare(byte[]? x, byte[]? y) => x.AsSpan().SequenceCompareTo(y);
    }
}
