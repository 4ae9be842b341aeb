namespace Voron.Torture.Simulation;

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

    /// <summary>A sync of a file begins; what was written before it is durable at its <see cref="SyncEnd"/>.</summary>
    Sync,
    SyncEnd,

    /// <summary>A sync failed: what was pending then is never made durable by a later one.</summary>
    SyncFailed,

    /// <summary>A sync failed, and the system gave up what was pending then: it is gone for everybody.</summary>
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

/// <summary>One line of a disk's history. Cut points lie between entries.</summary>
internal sealed record TraceEntry(TraceKind Kind)
{
    /// <summary>Names come and go, the file stays: an inode number.</summary>
    public int File { get; init; }

    public string Name { get; init; } = "";

    /// <summary>The new name of a renaming.</summary>
    public string Target { get; init; } = "";

    public long Offset { get; init; }

    /// <summary>In bytes. For <see cref="TraceKind.Rot"/> the bit.</summary>
    public long Length { get; init; }

    /// <summary>The file's visible length before and after.</summary>
    public long LengthBefore { get; init; }

    public long LengthAfter { get; init; }

    public bool WriteThrough { get; init; }

    /// <summary>A write-through write that goes by the page cache, since the disk has no other: what fails may stay there.</summary>
    public bool IsCached { get; init; }

    public IReadOnlyList<Fragment> Fragments { get; init; } = [];

    /// <summary>For the end of a write or sync: the index of its beginning.</summary>
    public int Begin { get; init; }

    public object? Marker { get; init; }
}
