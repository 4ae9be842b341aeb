namespace Voron.Feeds;

/// <summary>How long a feed keeps its changes, and how much of them. Stored with the feed.</summary>
public sealed record FeedOptions
{
    /// <summary>The maximum of <see cref="MaxValueBytes"/>: 1 MiB.</summary>
    public const int LargestValueBytes = 1 << 20;

    /// <summary>
    /// The time after which changes are deleted; <see cref="Timeout.InfiniteTimeSpan"/> for no limit. 7 days unless set. Changes are deleted in the
    /// background while others are recorded, unless <see cref="StorageOptions.BackgroundFlush"/> is off, and by
    /// <see cref="FeedTransactions.TrimFeedsAsync"/>, so they may remain longer.
    /// </summary>
    public TimeSpan MaxAge { get; init; } = TimeSpan.FromDays(7);

    /// <summary>The size in bytes above which the oldest changes are deleted, measured in pages. 1 GiB unless set.</summary>
    public long MaxBytes { get; init; } = 1L << 30;

    /// <summary>
    /// Up to this number of bytes, changes after the position of a named consumer are kept for it, whatever their age. A consumer that is further
    /// behind gets a <see cref="ChangesLostException"/>; others keep their changes. 4 GiB unless set; at least <see cref="MaxBytes"/>.
    /// </summary>
    public long HoldLimitBytes { get; init; } = 4L << 30;

    /// <summary>
    /// The length in bytes up to which values and rows are recorded. A change leaves out longer ones: <see cref="Change.IsNewValueLeftOut"/>.
    /// 64 KiB unless set; at most <see cref="LargestValueBytes"/>.
    /// </summary>
    public int MaxValueBytes { get; init; } = 64 << 10;

    /// <exception cref="ArgumentException">A value is out of its range.</exception>
    internal void Check(string parameter)
    {
        if (MaxAge < TimeSpan.Zero && MaxAge != Timeout.InfiniteTimeSpan)
            throw new ArgumentException($"{nameof(MaxAge)} is {MaxAge}, and must not be negative.", parameter);
        if (MaxBytes < 0)
            throw new ArgumentException($"{nameof(MaxBytes)} is {MaxBytes}, and must not be negative.", parameter);
        if (HoldLimitBytes < MaxBytes)
        {
            throw new ArgumentException(
                $"{nameof(HoldLimitBytes)} is {HoldLimitBytes}, and must be at least {nameof(MaxBytes)}: {MaxBytes}.", parameter);
        }

        if (MaxValueBytes is < 0 or > LargestValueBytes)
            throw new ArgumentException($"{nameof(MaxValueBytes)} is {MaxValueBytes}, and must be from 0 to {LargestValueBytes}.", parameter);
    }
}
