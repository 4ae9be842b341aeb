using Voron.IO;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The adjacent records that a leader takes from the queue and writes with one call. Used by the leader alone.</summary>
internal sealed class RecordBatch
{
    public List<RecordBuffer> Records { get; } = new(RecordQueue.MaxBatchRecords);

    /// <summary>The sum of the lengths of the records, in bytes.</summary>
    public long Bytes { get; set; }

    /// <summary>The file of the records, once they are sealed.</summary>
    public DiskFile? Handle { get; set; }

    /// <summary>The number of zeros that are written after them, in bytes.</summary>
    public long Zeros { get; set; }

    /// <summary>The duration of the write, in ticks of <see cref="System.Diagnostics.Stopwatch"/>.</summary>
    public long Ticks { get; set; }

    /// <summary>The sequence of the record before the first one.</summary>
    public long Before { get; set; }

    /// <summary>True if the leader was admitted as the second, while the records before these were being written.</summary>
    public bool IsSecond { get; set; }

    /// <summary>True if the records of a second leader may be written meanwhile: they follow no zeros, which would overwrite them.</summary>
    public bool AdmitsSecond
    {
        get
        {
            foreach (var record in Records)
            {
                if (!record.MayOverlap)
                    return false;
            }

            return Zeros == 0 || PlantedFault.FollowZeros;
        }
    }
}
