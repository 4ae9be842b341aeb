using Voron.IO;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The adjacent records that a leader takes from the queue and writes with one call. Used by its leader alone.</summary>
internal sealed class RecordBatch
{
    /// <summary>The maximum number of records in a batch.</summary>
    public const int MaxRecords = 64;

    private const long MaxBytes = 1 << 20;

    public List<RecordBuffer> Records { get; } = new(MaxRecords);

    /// <summary>The sum of the lengths of the records, in bytes.</summary>
    public long Bytes { get; private set; }

    /// <summary>The file of the records, once they are sealed.</summary>
    public DiskFile? Handle { get; set; }

    /// <summary>The number of zeros that are written after them, in bytes.</summary>
    public long Zeros { get; set; }

    /// <summary>The duration of the write, in ticks of <see cref="System.Diagnostics.Stopwatch"/>.</summary>
    public long Ticks { get; set; }

    /// <summary>The sequence of the record before the first one.</summary>
    public long Before { get; private set; }

    /// <summary>True if the leader was admitted as the second, while the records before these were being written.</summary>
    public bool IsSecond { get; private set; }

    /// <summary>True if the records of a second leader may be written meanwhile: they follow no zeros, which would overwrite them.</summary>
    public bool AdmitsSecond => MayOverlap && (Zeros == 0 || PlantedFault.FollowZeros);

    /// <inheritdoc cref="RecordBuffer.MayOverlap"/>
    public bool MayOverlap { get; private set; }

    /// <summary>True if another write was under way during this one, or may have been.</summary>
    public bool Overlaps { get; set; }

    /// <summary>Begins an empty batch.</summary>
    public void Begin(long before, bool isSecond)
    {
        Before = before;
        IsSecond = Overlaps = isSecond;
        Handle = null;
        MayOverlap = true;
        Bytes = 0;
    }

    /// <summary>Returns true if the record may follow the others: in the same file, within the limits of a batch.</summary>
    public bool Fits(RecordBuffer record) =>
        Records.Count < MaxRecords && (Records.Count == 0 || (record.File == Records[0].File && Bytes + record.Length <= MaxBytes));

    public void Add(RecordBuffer record)
    {
        Records.Add(record);
        Bytes += record.Length;
        MayOverlap &= record.MayOverlap;
    }
}

/// <summary>The batches of two leaders.</summary>
internal sealed class RecordBatchPair
{
    private readonly RecordBatch?[] _free = [new RecordBatch(), new RecordBatch()];

    public RecordBatch Take()
    {
        var index = _free[0] == null ? 1 : 0;
        var batch = _free[index]!;
        _free[index] = null;
        return batch;
    }

    public void Return(RecordBatch batch) => _free[_free[0] == null ? 0 : 1] = batch;
}
