using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;

namespace Voron.Maintenance;

/// <summary>Read-only access to the section maps of a snapshot.</summary>
internal sealed unsafe class SnapshotSpace(SnapshotPages snapshot) : ISpacePages
{
    public string FilePath => snapshot.FilePath;

    public long PageCount
    {
        get => snapshot.State.PageCount;
        set => throw new InvalidOperationException("A snapshot is read-only and cannot grow.");
    }

    public byte* ReadPage(long page) => snapshot.Read(new PageNumber(page));

    public void EnsureCapacity(long pageCount) => throw new InvalidOperationException("A snapshot is read-only and cannot grow.");

    public WritablePage ModifyPage(long page) => throw new InvalidOperationException("A snapshot is read-only and cannot change.");

    public WritablePage AddPage(long page, PageKind kind) => throw new InvalidOperationException("A snapshot is read-only and cannot change.");

    public void EnsureBlocks(long firstPage, long pages) => throw new InvalidOperationException("A snapshot is read-only and cannot change.");

    public bool HasVersion(long page) => false;
}
