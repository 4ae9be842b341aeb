namespace Voron.Transactions;

/// <summary>Decides for each large value whether it goes to the data file directly, or through the journal as small values do.</summary>
/// <remarks>
/// A direct value costs a commit two trips to the device: its bytes, and then the record beside a sync of the data file. Through the journal,
/// it costs one, and its bytes are written a second time by the flush. One trip is faster for few bytes, one write is faster for many
/// (decision 26 has the figures). How many bytes a transaction will put is known only at its end, so they are expected to be as many as in
/// the last transaction that put large values. While the journal has enough for a flush, the device has enough to write: values are direct.
/// Used by the holder of the writer.
/// </remarks>
internal sealed class ValueRoute
{
    private readonly Engine _engine;
    private readonly long _mostJournaled;
    private readonly long _busyBytes;
    private long _bytes;
    private long _bytesBefore;

    public ValueRoute(Engine engine)
    {
        _engine = engine;
        ThresholdBytes = engine.Options.LargeValueBytes;
        _mostJournaled = engine.Disk.IsVolatile ? 0 : engine.Options.JournaledValueBytes;
        _busyBytes = engine.Options.FlushThresholdBytes;
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

    /// <summary>Returns whether a value of that length goes to the data file directly, and counts it.</summary>
    public bool IsDirect(int length)
    {
        if (length < ThresholdBytes)
            return false;
        _bytes += length;
        return Math.Max(_bytes, _bytesBefore) > _mostJournaled || _engine.JournalFiles!.LiveRecordBytes >= _busyBytes;
    }
}
