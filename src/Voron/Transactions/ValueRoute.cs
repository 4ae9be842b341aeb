namespace Voron.Transactions;

/// <summary>Decides for each large value whether it goes to the data file directly, or through the journal as small values do.</summary>
/// <remarks>
/// A direct value costs a commit two trips to the device: its bytes, and then the record beside a sync of the data file. Through the journal,
/// it costs one, and its bytes are written a second time by the flush. One trip is faster for few bytes, one write is faster for many
/// (decision 26 has the figures). How many bytes a transaction will put is known only at its end, so they are expected to be as many as in
/// the last transaction that put large values. While a flush is due, the device has enough to write: values are direct. So are those that
/// follow a direct one, which costs the transaction its second trip already. Bytes that are undone count too: a wrong guess costs time only.
/// Used by the holder of the writer.
/// </remarks>
internal sealed class ValueRoute
{
    private readonly Engine _engine;
    private readonly CopyOnWritePages _pages;
    private readonly long _mostJournaled;
    private long _bytes;
    private long _bytesBefore;

    public ValueRoute(Engine engine, CopyOnWritePages pages)
    {
        _engine = engine;
        _pages = pages;
        ThresholdBytes = engine.Options.LargeValueBytes;
        _mostJournaled = engine.Disk.IsVolatile ? 0 : engine.Options.JournaledValueBytes;
    }

    /// <summary>The length in bytes from which a value is large.</summary>
    public int ThresholdBytes { get; }

    /// <summary>Begins a transaction.</summary>
    public void Begin()
    {
        _engine.AssertWriterHeld();
        if (_bytes == 0)
            return;
        _bytesBefore = _bytes;
        _bytes = 0;
    }

    /// <summary>Returns whether a value of that length, whose put begins, goes to the data file directly, and counts its bytes.</summary>
    public bool IsDirect(int length)
    {
        if (length < ThresholdBytes)
            return false;
        _bytes += length;
        return Math.Max(_bytes, _bytesBefore) > _mostJournaled || _pages.DirectExtents.Count > 0 || _engine.BackPressure is { IsFlushDue: true };
    }
}
