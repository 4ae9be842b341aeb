namespace Voron.Feeds;

/// <summary>Finds where a feed is cut: goes from its oldest change on, for as long as changes may go, and keeps the end of a transaction.</summary>
/// <param name="oldestTicks">Transactions before this time may go.</param>
/// <param name="excessBytes">The number of bytes that may go, whatever their age.</param>
/// <param name="mostBytes">The number of bytes after which a step ends, with the transaction that it has reached.</param>
/// <param name="hold">No change behind this position may go; null if none is held back.</param>
internal struct CutScan(long oldestTicks, long excessBytes, long mostBytes, ChangePosition? hold)
{
    private long _transactionId;
    private uint _ordinal;
    private long _bytes;

    /// <summary>The last change that may go; null if there is none.</summary>
    public ChangePosition? Cut { get; private set; }

    /// <summary>Takes the next change; false at the end of the scan.</summary>
    /// <param name="transactionId">The transaction of the change.</param>
    /// <param name="ordinal">The place in the transaction.</param>
    /// <param name="time">The time of the transaction; 0 if this change does not carry it.</param>
    /// <param name="bytes">The size of the change.</param>
    public bool Take(long transactionId, uint ordinal, long time, int bytes)
    {
        if (transactionId != _transactionId)
        {
            if (!Finish())
                return false;
            var mayGo = _bytes < excessBytes || (time != 0 && time < oldestTicks);
            if (!mayGo || _bytes >= mostBytes)
                return false;
            _transactionId = transactionId;
        }

        _ordinal = ordinal;
        _bytes += bytes;
        return true;
    }

    /// <summary>Ends the transaction that was taken last, at the end of the feed; false if a consumer has not seen all of it.</summary>
    public bool Finish()
    {
        if (_transactionId == 0)
            return true;
        var end = new ChangePosition(_transactionId, _ordinal, 0);
        if (hold is { } held && end > held)
            return false;
        Cut = end;
        return true;
    }
}
