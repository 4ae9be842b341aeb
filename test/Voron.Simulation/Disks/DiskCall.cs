namespace Voron.Simulation.Disks;

internal enum DiskCallKind
{
    List,
    Open,
    Create,
    Rename,
    Delete,
    SyncDirectory,
    Lock,
    Length,
    SetLength,
    Allocate,
    Punch,
    Read,
    Write,
    Sync,
    Map,
    ExtendMap,
    WriteBack,
    Link,
}

/// <summary>A call as fault predicates see it, before it does anything.</summary>
/// <param name="Kind">The kind of call.</param>
/// <param name="Name">The file's current name.</param>
/// <param name="Offset">The offset in bytes, or 0.</param>
/// <param name="Length">The length in bytes, or 0.</param>
internal readonly record struct DiskCall(DiskCallKind Kind, string Name, long Offset, long Length);
