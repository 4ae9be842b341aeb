namespace Voron.Simulation.Disks;

internal enum TraceKind
{
    Create,
    Rename,
    Delete,

    /// <summary>A write begins. A buffered one has returned by then; a write-through one returns at its <see cref="WriteEnd"/>.</summary>
    Write,
    WriteEnd,
    SetLength,
    Allocate,
    Punch,

    /// <summary>A sync of a file begins; all data written before it is durable at its <see cref="SyncEnd"/>.</summary>
    Sync,
    SyncEnd,

    /// <summary>A sync failed: changes that were pending then are never made durable by a later sync.</summary>
    SyncFailed,

    /// <summary>A sync failed, and the system dropped the changes that were pending then: no reader sees them any more.</summary>
    SyncDropped,

    /// <summary>A write failed: its bytes may or may not have reached the medium.</summary>
    WriteFailed,
    DirectorySync,
    DirectorySyncEnd,

    /// <summary>A bit rotted, on the medium and in the cache.</summary>
    Rot,

    /// <summary>A caller's note, such as "commit 7 was acknowledged".</summary>
    Mark,
}

/// <summary>One entry in a disk's history. Cut points lie between entries.</summary>
internal sealed record TraceEntry(TraceKind Kind)
{
    /// <summary>The number of the file, like an inode number: it stays the same when names change.</summary>
    public int File { get; init; }

    public string Name { get; init; } = "";

    /// <summary>The new name, for a rename.</summary>
    public string Target { get; init; } = "";

    public long Offset { get; init; }

    /// <summary>The length in bytes; for <see cref="TraceKind.Rot"/>, the index of the bit.</summary>
    public long Length { get; init; }

    /// <summary>The file's visible length before and after.</summary>
    public long LengthBefore { get; init; }

    public long LengthAfter { get; init; }

    public bool WriteThrough { get; init; }

    /// <summary>
    /// True for a write-through write that goes through the page cache, because the disk has no unbuffered writes: the bytes of a failed write
    /// may stay there.
    /// </summary>
    public bool IsCached { get; init; }

    public IReadOnlyList<Fragment> Fragments { get; init; } = [];

    /// <summary>The index of the beginning, for the end of a write or sync.</summary>
    public int Begin { get; init; }

    public object? Marker { get; init; }
}
