using System.Diagnostics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Scratch;
using Voron.Snapshots;
using Voron.Trees.KeyHeads;

namespace Voron.Transactions;

/// <summary>An open engine with its pages and snapshots: all that reading needs.</summary>
internal class ReadingEngine : EngineCore
{
    public required SectionMapLayout Layout { get; init; }

    public required DataFile DataFile { get; init; }

    public required VersionTable Versions { get; init; }

    /// <summary>Used by the holder of the writer.</summary>
    public required BranchKeyHeads BranchKeyHeads { get; init; }

    /// <summary>Used by all readers; null when switched off.</summary>
    public required DataFileKeyHeads? DataFileKeyHeads { get; init; }

    public required FrameAllocator Frames { get; init; }

    /// <summary>The number of bytes of unflushed page versions and their nodes: a freed page has only its node. Read without the writer.</summary>
    public long VersionBytes => Frames.UsedBytes + Versions.NodeCount * VersionNode.Size;

    public required StateRing Ring { get; init; }

    public required ReaderTable Readers { get; init; }

    /// <summary>The parts that snapshots read pages from, and register in.</summary>
    public required SnapshotSource Snapshots { get; init; }

    /// <summary>The slot of the flusher in <see cref="Readers"/>, scanned last; -1 when there is none.</summary>
    public int FlusherSlot { get; set; } = -1;

    /// <summary>Counts the native memory of all parts, and allocates that of lists and journal records.</summary>
    public required EnvironmentMemory Memory { get; init; }

    /// <inheritdoc cref="EnvironmentMemory.Lists"/>
    public NativeHeap Heap => Memory.Lists;

    /// <summary>Null when there is no writer: while the environment is being opened, and when that is for reading only.</summary>
    public WriterLock? WriterLock { get; set; }

    /// <summary>
    /// Returns a clock for deletions by age. It starts at about the time of the last commit, if that is earlier, and trusts the system clock after
    /// a minute: a process that starts with a wrong clock deletes nothing because of it.
    /// </summary>
    public SteadyClock CreateDeletionClock(TimeProvider clock)
    {
        Ring.Read(out var newest);
        var last = new DateTimeOffset(newest.State.CommitTime, TimeSpan.Zero);
        return new SteadyClock(clock, newest.State.CommitTime != 0 && last < clock.GetUtcNow() ? last : null);
    }

    /// <summary>
    /// Ensures that free pages written directly are verified before they are trusted: the section map may be wrong, and one of them may belong to
    /// a tree. Called before the first page is overwritten, because the write may fail, and after the last one, because the pages may have been
    /// read in between. Any thread may call this.
    /// </summary>
    /// <returns>The first page.</returns>
    public long Distrust(long firstPage, long pages)
    {
        if (DataFile.MarkUnverified(firstPage, pages) && DataFileKeyHeads is { } heads)
        {
            for (var page = firstPage; page < firstPage + pages; page++)
                heads.Invalidate(new PageNumber(page));
        }

        return firstPage;
    }

    /// <inheritdoc cref="Transactions.WriterLock.AssertHeld"/>
    [Conditional("DEBUG")]
    public void AssertWriterHeld() => WriterLock?.AssertHeld();

    /// <summary>
    /// Makes a published state durable if it contains lazy commits that are not. Called before a state leaves the process's memory: by a flush, a
    /// backup, a batch of a feed.
    /// </summary>
    /// <param name="sequence">The sequence of the record that made the state.</param>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    public virtual void MakeDurable(long sequence)
    {
        // Nothing can write here: all states come from durable records.
    }
}
