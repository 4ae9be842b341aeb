using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Writes pages to the data file in page order, neighbours together.</summary>
internal sealed unsafe class PageFileWriter
{
    private const int MaxBlocks = 256;
    private const long MaxCallBytes = 4 << 20;

    // A commit's own write drains what the device has been given before it, so it must not be given too much at once.
    private const long PacingBytes = 8 << 20;

    private readonly Engine _context;
    private readonly int _pageShift;

    public PageFileWriter(Engine context)
    {
        _context = context;
        _pageShift = BitOperations.Log2((uint)context.PageSize);
    }

    /// <summary>Stretches of neighbouring pages in the last plan written.</summary>
    public int Seeks { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>Gives each page its checksum: in the frame, in the bytes that mean nothing in memory.</summary>
    public void SetChecksums(FlushPlan plan)
    {
        foreach (var item in plan.Items.AsSpan())
        {
            PageHeader.ClearSpareBytes(item.Frame, item.Page);
            ((PageHeader*)item.Frame)->Checksum = _context.DataFile.ComputeChecksum(item.Page, item.Frame, (long)item.Pages << _pageShift);
        }

        // Page 0 is written with the stamp that the file has by then.
        if (plan.Items.Count > 0 && plan.Items[0].Page == 0)
            ((PageHeader*)plan.Items[0].Frame)->Stamp = DataFileStamp.Begun(plan.Number);
    }

    /// <summary>Writes the pages of the plan that have not been written. They are durable after a sync.</summary>
    /// <exception cref="DiskException">A write failed; what was written before it is noted in the plan.</exception>
    /// <exception cref="EnvironmentPoisonedException">A sync on the way failed.</exception>
    public void Write(FlushPlan plan)
    {
        if (plan.Written == 0)
        {
            Seeks = 0;
            Bytes = 0;
        }

        var blocks = stackalloc IoBlock[MaxBlocks];
        var next = -1L;
        var unsynced = 0L;
        for (var i = plan.Written; i < plan.Items.Count;)
        {
            var first = plan.Items[i].Page;
            if (first != next)
                Seeks++;
            var count = 0;
            var bytes = 0L;
            next = first;
            while (i < plan.Items.Count && plan.Items[i].Page == next && count < MaxBlocks && bytes < MaxCallBytes)
            {
                var item = plan.Items[i++];
                var length = (long)item.Pages << _pageShift;
                blocks[count++] = new IoBlock(item.Frame, (nuint)length);
                bytes += length;
                next += item.Pages;
            }

            _context.DataFile.File.WriteVectored(first << _pageShift, new ReadOnlySpan<IoBlock>(blocks, count));
            plan.Written = i;
            Bytes += bytes;
            unsynced += bytes;
            if (unsynced >= PacingBytes && !PlantedFault.SkipSyncBeforeCheckpoint)
            {
                _context.DataFile.Sync();
                unsynced = 0;
                JournalSpare.Prepare(_context);
            }
        }

        foreach (var item in plan.Items.AsSpan())
        {
            _context.DataFile.MarkVerified(item.Page);
            if (item.Pages > 1)
                _context.DataFile.MarkUnverified(item.Page + 1, item.Pages - 1);
        }
    }
}
