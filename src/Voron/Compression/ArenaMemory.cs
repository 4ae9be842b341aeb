namespace Voron.Compression;

/// <summary>Bounds the memory that <see cref="ValueArena"/> keeps between two uses, over all readers of an environment.</summary>
/// <param name="limitBytes">The most bytes that all of them keep.</param>
/// <param name="charge">Told by how many bytes that has grown or shrunk. Throws nothing.</param>
internal sealed class ArenaMemory(long limitBytes, Action<long> charge)
{
    private long _bytes;

    /// <summary>Notes that an arena keeps more bytes, or fewer. Returns false, with nothing noted, if there is no room for more.</summary>
    public bool TryChange(long change)
    {
        if (Interlocked.Add(ref _bytes, change) > limitBytes && change > 0)
        {
            Interlocked.Add(ref _bytes, -change);
            return false;
        }

        charge(change);
        return true;
    }
}
