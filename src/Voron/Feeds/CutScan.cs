namespace Voron.Feeds;

/// <summary>Finds the cut of a feed: scans from its oldest change while changes may be deleted, and stops at the end of a transaction.</summary>
/// <param name="limits">The limits of the cut.</param>
internal struct CutScan(CutLimits limits)
{
    private long _transactionId;
    private long _bytesBefore;
    private uint _ordinal;

    /// <summary>The number of bytes taken.</summary>
    public long Bytes { get; private set; }

    /// <summary>The number of consumers that lose changes, because they are too far behind.</summary>
    public int Passed { get; private set; }

    /// <summary>The last change that may be deleted; null if there is none.</summary>
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

    /// <summary>
    /// Ends the last transaction taken, also at the end of the feed; false if a consumer that has not seen all of it holds it back.
    /// </summary>
    public bool Finish()
    {
        if (_transactionId == 0)
            return true;
        var end = new ChangePosition(_transactionId, _ordinal, 0);
        while (Passed < limits.Holds.Length && limits.Holds[Passed] < end)
        {
            // An upper bound on the bytes that the consumer has not seen: it may have seen the beginning of this transaction.
            if (limits.FeedBytes - _bytesBefore <= limits.HoldLimitBytes)
                return false;
            Passed++;
        }

        Cut = end;
        return true;
    }
}
