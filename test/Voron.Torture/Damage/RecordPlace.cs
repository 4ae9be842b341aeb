namespace Voron.Torture.Damage;

/// <summary>The place of a record.</summary>
/// <param name="TransactionId">The transaction; 0 for a record of another kind.</param>
internal readonly record struct RecordPlace(string File, long Offset, long Length, long TransactionId)
{
    public bool IsHit(string file, IReadOnlyList<(long Offset, long Length)> ranges)
    {
        (var own, var from, var end) = (File, Offset, Offset + Length);
        return own == file && ranges.Any(range => range.Offset < end && range.Offset + range.Length > from);
    }
}
