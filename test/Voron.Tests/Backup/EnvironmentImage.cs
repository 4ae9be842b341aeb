using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.Tests.Backup;

/// <summary>The content of a closed environment: its newest header, its data file, and the pages that the section maps call used.</summary>
internal sealed class EnvironmentImage
{
    private readonly SectionMapLayout _layout;
    private readonly byte[] _data;

    private EnvironmentImage(in CheckpointHeader header, byte[] data)
    {
        Header = header;
        _data = data;
        _layout = new SectionMapLayout((int)header.PageSize);
        for (var page = 0L; page < header.State.PageCount; page++)
        {
            if (IsUsed(page))
                UsedPages.Add(page);
        }
    }

    public CheckpointHeader Header { get; }

    public int PageSize => (int)Header.PageSize;

    /// <summary>In ascending order.</summary>
    public List<long> UsedPages { get; } = [];

    /// <summary>Reads a disk on which the environment is closed, so that everything is in the data file.</summary>
    public static EnvironmentImage Read(IDisk disk)
    {
        CheckpointHeader header;
        using (var checkpoints = HeaderFile.Open(disk))
            header = checkpoints.Current;
        header.Flags.Should().HaveFlag(CheckpointFlags.ClosedCleanly, "a backup is built from a closed environment");
        using var file = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        var data = new byte[header.State.PageCount * header.PageSize];
        file.Read(0, data);

        // The stamp belongs to the file, and not to the page.
        data.AsSpan(DataFileStamp.Offset, DataFileStamp.Size).Clear();
        return new EnvironmentImage(header, data);
    }

    /// <summary>Returns the bytes of a page; writes to them change the image.</summary>
    public Span<byte> Page(long page) => _data.AsSpan(checked((int)(page * PageSize)), PageSize);

    public PageHeader HeaderOf(long page) => MemoryMarshal.Read<PageHeader>(Page(page));

    /// <summary>Returns true if another image has the same bytes for a page.</summary>
    public bool IsSameIn(EnvironmentImage other, long page) => page < other.Header.State.PageCount && Page(page).SequenceEqual(other.Page(page));

    private bool IsUsed(long page)
    {
        var group = _layout.GroupOf(page);
        var directory = Number(SectionMapLayout.RootPage.Value, (int)(group / _layout.NumbersPerPage));
        var map = Number(directory, (int)(group % _layout.NumbersPerPage));
        var bit = (int)(page % _layout.PagesPerSection);
        return (Page(map)[_layout.BitmapOffset(_layout.SectionOf(page)) + bit / 8] & (1 << (bit % 8))) != 0;
    }

    private long Number(long page, int index) => MemoryMarshal.Read<long>(Page(page)[(PageHeader.Size + index * sizeof(long))..]);
}
