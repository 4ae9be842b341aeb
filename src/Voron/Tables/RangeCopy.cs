using Voron.Trees.Pages;

namespace Voron.Tables;

/// <summary>A range of keys that keeps copies of its bounds, for a query that outlives the call that made it.</summary>
internal sealed class RangeCopy
{
    private readonly byte[] _start;
    private readonly byte[]? _end;

    public RangeCopy(KeyRange range)
    {
        _start = Copy(range.Start);
        _end = range.End.IsEnd ? null : Copy(range.End);
        IsEmpty = range.IsEmpty;
    }

    /// <summary>True if no key can be in the range.</summary>
    public bool IsEmpty { get; }

    /// <summary>The keys of the range are at least as high as these bytes, which are empty if there is no bound.</summary>
    public ReadOnlySpan<byte> Start => _start;

    /// <summary>False if no bound follows the keys; otherwise they are lower than these bytes.</summary>
    public bool TryGetEnd(out ReadOnlySpan<byte> end)
    {
        end = _end;
        return _end != null;
    }

    /// <summary>Returns whether a key is at the start of the range or after it.</summary>
    public bool IsFromStart(ReadOnlySpan<byte> key) => key.SequenceCompareTo(_start) >= 0;

    /// <summary>Returns whether a key is before the end of the range.</summary>
    public bool IsBeforeEnd(ReadOnlySpan<byte> key) => _end == null || key.SequenceCompareTo(_end) < 0;

    private static byte[] Copy(KeyBound bound)
    {
        // The place behind all keys is the start of empty ranges only.
        if (bound.IsEnd || bound.IsStart)
            return [];
        var bytes = new byte[bound.Length];
        bound.CopyTo(bytes);
        return bytes;
    }
}
