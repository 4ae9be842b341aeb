namespace Voron.Tables;

/// <summary>A key range that owns copies of its bounds, for a query that outlives the call that created it.</summary>
internal sealed class RangeCopy
{
    private readonly byte[] _start;
    private readonly byte[]? _end;

    public RangeCopy(KeyRange range)
    {
        _start = range.CopyStart();
        _end = range.CopyEnd();
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
}
