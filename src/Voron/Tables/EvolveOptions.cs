namespace Voron.Tables;

/// <summary>How long a step of <see cref="TableEvolution.EvolveAsync"/> keeps other writers waiting.</summary>
/// <remarks>
/// Each step is a separate transaction, so smaller steps cost more commits. A step ends at the first limit that it reaches, but reads at least
/// one row.
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

    /// <summary>The number of row bytes after which a step ends: 16 MiB unless set.</summary>
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
