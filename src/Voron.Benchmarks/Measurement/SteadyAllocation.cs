namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Counts the managed memory that all threads allocate after the first tenth of a run, which leaves out the one-time allocations of the
/// first operations. The loops report their progress between measured calls.
/// </summary>
internal sealed class SteadyAllocation
{
    private const int WarmShare = 10;

    private long _firstOperation = -1;
    private long _firstBytes;

    /// <summary>Null until the run has ended.</summary>
    public double? BytesPerOperation { get; private set; }

    /// <summary>Reports progress. All calls but one are cheap.</summary>
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
