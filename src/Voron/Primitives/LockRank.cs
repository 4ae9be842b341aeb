namespace Voron.Primitives;

/// <summary>
/// The engine's locks in the order in which a thread may take them: while it holds one, it may take only later ones. The writer
/// comes before all of them. <c>docs/design.md</c>, "Threads and locks", says what each protects.
/// </summary>
internal enum LockRank
{
    /// <summary><c>UnfinishedPuts</c>: the puts of the open transaction whose values have not arrived in full.</summary>
    StreamPuts,

    /// <summary><c>MemoryTrimmer</c>: one check for unused memory at a time.</summary>
    Trim,

    /// <summary><c>Flusher</c>: one flush, journal snapshot or close at a time.</summary>
    Flush,

    /// <summary><c>ChangedPageTracker</c>: the change log, its files and the information about them.</summary>
    ChangeLog,

    /// <summary><c>DirectWrites</c>: the pages that transactions since the checkpoint have written directly.</summary>
    DirectWrites,

    /// <summary><c>JournalWriter</c>: the places and sequence numbers of records.</summary>
    Submission,

    /// <summary><c>RecordQueue</c>: the queue of records, and which thread writes it.</summary>
    JournalQueue,

    /// <summary><c>JournalFileSet</c>: the lists of journal files.</summary>
    JournalFiles,

    /// <summary><c>DataFile</c>: the length of the data file.</summary>
    Growth,

    /// <summary><c>DataFile</c>: a sync of the data file, and the consequences of its failure.</summary>
    DataSync,

    /// <summary><c>StateRing</c>: the next place in the ring.</summary>
    Publication,

    /// <summary><c>ReaderTable</c>: the list of free slots.</summary>
    ReaderSlots,

    /// <summary><c>ReaderTable</c>: forks that are being registered, which a repeated scan must not meet.</summary>
    ReaderForks,

    /// <summary><c>WriterThrottle</c>: callers that are delayed by back-pressure.</summary>
    Progress,
}
