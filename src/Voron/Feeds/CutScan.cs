namespace Voron.Feeds;

/// <summary>Finds where a feed is cut: goes from its oldest change on, for as long as changes may go, and keeps the end of a transaction.</summary>
/// <param name="limits">How far it may go.</param>
internal struct CutScan(CutLimits limits)
{
    private long _transactionId;
    private long _bytesBefore;
    private uint _ordinal;

    /// <summary>The number of bytes that were taken.</summary>
    public long Bytes { get; private set; }

    /// <summary>The number of consumers that lose changes, because they are too far behind.</summary>
    public int Passed { get; private set; }

    /// <summary>The last change that may go; null if there is none.</summary>
    public ChangePosition? Cut { get; private set; }

    /// <summary>Takes the next change; false at the end of the scan.</summary>
    /// <param name="transactionId">The transaction of the change.</param>
    /// <param name="ordinal">The place in the transaction.</param>
    /// <param name="time">The time of the transaction; 0 if this change does not carry it.</param>
    /// <param name="bytes">The size of the change.</param>
    public bool Take(long transactionId, uint ordinal, long time, long bytes)
    {
        if (transactionId != _transactionId)
        {
            if (!Finish())
                return false;
            var mayGo = Bytes < limits.ExcessBytes || (time != 0 && time < limits.OldestTicks);
            if (!mayGo || Bytes >= limits.MostBytes || transactionId > limits.NewestId)
                return false;
            _transactionId = transactionId;
            _bytesBefore = Bytes;
        }

        _ordinal = ordinal;
        Bytes += bytes;
        return true;
    }

    /// <summary>Ends the transaction that was taken last, at the end of the feed; false if a consumer has not seen all of it.</summary>
    public bool Finish()
    {
        if (_transactionId == 0)
            return true;
        var end = new ChangePosition(_transactionId, _ordinal, 0);
        while (Passed < limits.Holds.Length && limits.Holds[Passed] < end)
        {
            // At least the bytes behind this transaction, whose beginning the consumer may have seen.
            if (limits.FeedBytes - _bytesBefore <= limits.HoldLimitBytes)
                return false;
            Passed++;
        }

        Cut = end;
        return true;
    }
}
