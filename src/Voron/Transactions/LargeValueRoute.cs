namespace Voron.Transactions;

/// <summary>Decides for each large value whether it is written to the data file directly, or through the journal like small values.</summary>
/// <remarks>
/// A direct value costs a commit two trips to the device: its bytes, and then the record together with a sync of the data file. Through the
/// journal, it costs one, and the flush writes its bytes a second time. One trip is faster for few bytes, one write is faster for many (decision
/// 26 has the figures). The number of bytes that a transaction will put is known only at its end; it is expected to equal that of the last
/// transaction that put large values. While a flush is due, the device has enough to write: values are direct. So are those that follow a direct
/// one, which already costs the transaction its second trip. Undone bytes count too: a wrong guess costs only time.
/// </remarks>
internal sealed class LargeValueRoute
{
    private readonly Engine _engine;
    private readonly CopyOnWritePages _pages;
    private readonly long _mostJournaled;
    private long _bytes;
    private long _bytesBefore;

    public LargeValueRoute(Engine engine, CopyOnWritePages pages)
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

    /// <summary>Returns whether a value of that length, whose put begins, is written to the data file directly, and counts its bytes.</summary>
    public bool IsDirect(int length)
    {
        if (length < ThresholdBytes)
            return false;
        _bytes += length;
        return Math.Max(_bytes, _bytesBefore) > _mostJournaled || _pages.DirectExtents.Count > 0 || _engine.FlushServices is { IsFlushDue: true };
    }
}
