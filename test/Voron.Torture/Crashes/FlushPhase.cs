using Voron.Format;
using Voron.Simulation.Disks;

namespace Voron.Torture.Crashes;

/// <summary>Knows from the calls to the disk in which part of a flush a thread is.</summary>
internal sealed class FlushPhase(SimulatedDisk disk)
{
    // The thread that has stamped the data file and not yet written the checkpoint; 0 for none.
    private int _stampingThread;

    /// <summary>
    /// Returns true if a call belongs to a flush at a time when neither the writer nor the journal is locked, and this thread does not write the
    /// journal: the flush syncs the data file, or writes the checkpoint. A commit with values or pages of its own in the data file syncs that too.
    /// </summary>
    /// <param name="entry">A call that is in progress on this thread.</param>
    public bool IsOutsideOfLocks(TraceEntry entry)
    {
        var thread = Environment.CurrentManagedThreadId;
        if (entry.File == disk.FileOf(Paging.DataFile.FileName))
        {
            if (entry is { Kind: TraceKind.Write, Offset: DataFileStamp.Offset, Length: DataFileStamp.Size })
                Volatile.Write(ref _stampingThread, thread);
            return entry.Kind == TraceKind.Sync && Volatile.Read(ref _stampingThread) == thread;
        }

        if (entry.Kind != TraceKind.Write || entry.File != disk.FileOf(Paging.HeaderFile.FileName))
            return false;
        Interlocked.CompareExchange(ref _stampingThread, 0, thread);
        return true;
    }
}
