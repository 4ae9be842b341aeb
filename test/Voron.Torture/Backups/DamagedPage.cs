using System.Globalization;
using System.Text.RegularExpressions;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Harness;

namespace Voron.Torture.Backups;

/// <summary>A page of the data file with a flipped bit, until it is disposed.</summary>
internal sealed unsafe partial class DamagedPage : IDisposable
{
    private const int Tries = 8;

    private readonly DiskFile _file;
    private readonly byte[] _damaged;
    private readonly int _at;
    private readonly byte _bit;

    private DamagedPage(DiskFile file, long page, byte[] bytes, int at, byte bit)
    {
        (_file, Page, _damaged, _at, _bit) = (file, page, bytes, at, bit);
        Flip();
    }

    public long Page { get; }

    /// <summary>Damages a page that has a header and a right checksum; returns null if none is found.</summary>
    public static DamagedPage? TryMake(BackedUpStore store, Tape choices)
    {
        var data = store.Engine.DataFile;
        var file = store.Disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        var bytes = new byte[data.PageSize];
        for (var i = 0; i < Tries; i++)
        {
            var page = choices.NextInt64(data.CapacityPages);
            var at = choices.Next(PageHeader.UnjournaledBytes, data.PageSize);
            file.Read(page * data.PageSize, bytes);
            fixed (byte* start = bytes)
            {
                // A map of sections is read by the environment itself, which has checked it long ago.
                var header = (PageHeader*)start;
                if (header->PageNumber == page && header->Kind is PageKind.Leaf or PageKind.Branch
                    && header->Checksum == data.ComputeChecksum(page, start, data.PageSize))
                    return new DamagedPage(file, page, bytes, at, (byte)(1 << choices.Next(8)));
            }
        }

        file.Dispose();
        return null;
    }

    /// <summary>Returns whether a message names the page, or a stretch of pages as "17-20" that has it.</summary>
    public bool IsNamedIn(string message)
    {
        foreach (Match list in PageList().Matches(message))
        {
            foreach (var stretch in list.Groups[1].Value.Split(", "))
            {
                var ends = stretch.Split('-');
                if (Page >= Number(ends[0]) && Page <= Number(ends[^1]))
                    return true;
            }
        }

        return false;
    }

    public void Dispose()
    {
        // A flush may have written the page meanwhile.
        var now = new byte[_damaged.Length];
        _file.Read(Page * _damaged.Length, now);
        if (now.AsSpan().SequenceEqual(_damaged))
            Flip();
        _file.Dispose();
    }

    [GeneratedRegex(@"\b[Pp]age (\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)")]
    private static partial Regex PageList();

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    private void Flip()
    {
        _damaged[_at] ^= _bit;
        _file.Write(Page * _damaged.Length, _damaged);
    }
}
