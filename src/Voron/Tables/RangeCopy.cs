using Voron.Trees.Pages;

namespace Voron.Tables;

/// <summary>A key range that owns copies of its bounds, for a query that outlives the call that created it.</summary>
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

    /// <summary>The inclusive lower bound; empty if there is none.</summary>
    public ReadOnlySpan<byte> Start => _start;

    /// <summary>Gets the exclusive upper bound; false if there is none.</summary>
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
        // Only empty ranges start after all keys.
        if (bound.IsEnd || bound.IsStart)
            return [];
        var bytes = new byte[bound.Length];
        bound.CopyTo(bytes);
        return bytes;
    }
}
