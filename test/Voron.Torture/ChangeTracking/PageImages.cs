using Voron.Format;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Maintenance;
using Voron.Snapshots;
using Voron.Transactions;

namespace Voron.Torture.ChangeTracking;

/// <summary>The pages that are used in one state, each with a checksum of its content: what a copy of that state would have.</summary>
/// <remarks>The bytes that are not journaled, such as a page's own checksum, are left out: they may differ though the page has not changed.</remarks>
internal static unsafe class PageImages
{
    public static Dictionary<long, ulong> Of(Engine engine, SnapshotPages snapshot)
    {
        var images = new Dictionary<long, ulong>();
        var map = new SectionMap(engine.Layout, new SnapshotSpace(snapshot));
        var buffer = (byte*)EngineMemory.AllocateAligned((nuint)engine.PageSize, JournalFormat.Block);
        try
        {
            for (var page = 0L; page < snapshot.PageCount;)
            {
                if (engine.Versions.Find(page, snapshot.Id, out var version))
                {
                    var pages = Math.Max(1, version.Pages);
                    for (var i = 0; i < pages && version.Frame != null; i++)
                        images[page + i] = ChecksumOf(version.Frame + (long)i * engine.PageSize, engine.PageSize);
                    page += pages;
                    continue;
                }

                if (map.IsUsed(page))
                {
                    engine.DataFile.File.Read(page * engine.PageSize, new Span<byte>(buffer, engine.PageSize));
                    images[page] = ChecksumOf(buffer, engine.PageSize);
                }

                page++;
            }
        }
        finally
        {
            EngineMemory.FreeAligned(buffer);
        }

        return images;
    }

    private static ulong ChecksumOf(byte* page, int pageSize) =>
        Checksum.Compute(page + PageHeader.UnjournaledBytes, (nuint)(pageSize - PageHeader.UnjournaledBytes), 0);
}
