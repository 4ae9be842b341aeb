namespace Voron.Tables;

/// <summary>How long a step of <see cref="TableEvolution.EvolveAsync"/> keeps other writers waiting.</summary>
/// <remarks>
/// A step is a transaction of its own, and many small steps cost many commits. It ends at the first of the two limits, but reads a row at least.
/// </remarks>
public sealed record EvolveOptions
{
    private readonly TimeSpan _maxHold = TimeSpan.FromMilliseconds(2);
    private readonly long _maxBytes = 16 << 20;

    /// <summary>The time for which a step holds the writer: 2 ms unless set.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The time is not positive, or longer than a minute.</exception>
    public TimeSpan MaxHold
    {
        get => _maxHold;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(value, TimeSpan.Zero);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, TimeSpan.FromMinutes(1));
            _maxHold = value;
        }
    }

    /// <summary>The bytes of rows that a step reads: 16 MiB unless set.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The number is not positive.</exception>
    public long MaxBytes
    {
        get => _maxBytes;
        init
        {
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value);
            _maxBytes = value;
        }
    }
}
