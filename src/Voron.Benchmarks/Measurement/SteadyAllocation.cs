namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Managed memory taken between a tenth of a run and its end, by all threads: what the first operations need once for all is
/// not in it. The loops tell how far they are between measured calls.
/// </summary>
internal sealed class SteadyAllocation
{
    private const int WarmShare = 10;

    private long _firstOperation = -1;
    private long _firstBytes;

    /// <summary>Null until a run has ended.</summary>
    public double? BytesPerOperation { get; private set; }

    /// <summary>Cheap but for one call.</summary>
    public void Report(long done, long total)
    {
        if (_firstOperation >= 0 || done < total / WarmShare)
            return;
        _firstOperation = done;
        _firstBytes = GC.GetTotalAllocatedBytes(precise: true);
    }

    public void End(long done)
    {
        if (_firstOperation >= 0 && done > _firstOperation)
            BytesPerOperation = (double)(GC.GetTotalAllocatedBytes(precise: true) - _firstBytes) / (done - _firstOperation);
    }
}
