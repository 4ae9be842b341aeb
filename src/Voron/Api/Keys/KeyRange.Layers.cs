using Voron.Trees.Pages;

namespace Voron;

/// <content>What queries of tables need of a range, which they outlive.</content>
public readonly ref partial struct KeyRange
{
    /// <summary>Returns a copy of the inclusive lower bound; empty if there is none.</summary>
    internal byte[] CopyStart() => Copy(_start);

    /// <summary>Returns a copy of the exclusive upper bound; null if there is none.</summary>
    internal byte[]? CopyEnd() => _end.IsEnd ? null : Copy(_end);

    private static byte[] Copy(KeyBound bound)
    {
        // Only empty ranges start after all keys.
        if (bound.IsEnd || bound.IsStart)
            return [];
        var bytes = new byte[bound.Length];
        bound.CopyTo(bytes);
        return bytes;
    }
}
