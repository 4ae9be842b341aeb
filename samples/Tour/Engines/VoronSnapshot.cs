using Tour.Data;
using Voron;

namespace Tour.Engines;

/// <summary>A read transaction, and a tree in it.</summary>
internal sealed class VoronSnapshot : ISnapshot
{
    private readonly ReadTransaction _reading;
    private readonly Tree _tree;

    public VoronSnapshot(StorageEnvironment environment, string table)
    {
        _reading = environment.BeginRead();
        _tree = _reading.OpenTree(table);
    }

    public ulong Read(byte[] key) => _tree.TryGet(key, out var text) ? Digest.HashOf(text) : 0;

    public Digest ReadRange(KeyPrefix prefix)
    {
        var found = default(Digest);
        foreach (var entry in _tree.Prefix(prefix.Start))
            found = found.ThenBy(entry.Key, entry.Value);
        return found;
    }

    public Digest ReadAll()
    {
        var found = default(Digest);
        foreach (var entry in _tree.GetEntries())
            found += Digest.Of(entry.Key, entry.Value);
        return found;
    }

    public void Dispose() => _reading.Dispose();
}
