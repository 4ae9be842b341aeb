using System.Numerics;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Writes pages to the data file in page order, adjacent pages together.</summary>
internal sealed unsafe class FlushPageWriter
{
    private readonly ReadingEngine _engine;
    private readonly Action _prepareSpare;
    private readonly CheckpointMover _mover;
    private readonly int _pageShift;

    public FlushPageWriter(ReadingEngine engine, CheckpointMover mover, Action prepareSpare)
    {
        _engine = engine;
        _prepareSpare = prepareSpare;
        _mover = mover;
        _pageShift = BitOperations.Log2((uint)engine.PageSize);
    }

    /// <summary>The number of extents of adjacent pages in the last plan written.</summary>
    public int Seeks { get; private set; }

    public long Bytes { get; private set; }

    /// <summary>True if the next plan is written for the holder of the writer, so that no commit can arrive meanwhile.</summary>
    public bool IsUrgent { get; set; }

    /// <summary>Stores each page's checksum in its frame, in the bytes that have no meaning in memory.</summary>
    public void SetChecksums(FlushPlan plan)
    {
        foreach (var item in plan.Items.AsSpan())
            _engine.DataFile.SetChecksum(item.Page, item.Frame, (long)item.Pages << _pageShift, item.TransactionId);

        // Page 0 is written with the stamp that the file has by then.
        if (plan.Items.Count > 0 && plan.Items[0].Page == 0)
            ((PageHeader*)plan.Items[0].Frame)->Stamp = DataFileStamp.Begun(plan.Number);
    }

    /// <summary>Writes the pages of the plan that have not been written. They are durable after a sync.</summary>
    /// <exception cref="DiskException">A write failed; the plan records how much was written before it.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write-back or a sync between the writes failed.</exception>
    public void Write(FlushPlan plan)
    {
        if (plan.Written == 0)
        {
            Seeks = 0;
            Bytes = 0;
        }

        var gathering = new PageGathering(_engine.DataFile, stackalloc IoBlock[PageGathering.MaxBlocks], FlushPacing.PieceBytes);
        var unsynced = 0L;
        var written = 0L;
        var piece = NextPiece();
        var firstPage = 0L;
        for (var i = plan.Written; i < plan.Items.Count;)
        {
            if (plan.Items[i].Page != gathering.Next)
                Seeks++;
            if (written == 0)
                firstPage = plan.Items[i].Page;
            while (i < plan.Items.Count && gathering.TryAdd(plan.Items[i].Page, plan.Items[i].Frame, plan.Items[i].Pages))
                i++;
            var bytes = gathering.Bytes;
            gathering.Write();
            plan.Written = i;
            Bytes += bytes;
            written += bytes;
            if (written < piece)
                continue;

            if (!_engine.DataFile.TryWriteBack(firstPage << _pageShift, (gathering.Next - firstPage) << _pageShift)
                && (unsynced += written) >= FlushPacing.SyncedBytes)
            {
                _engine.DataFile.Sync();
                unsynced = 0;
            }

            written = 0;
            piece = NextPiece();
            _prepareSpare();
        }

        foreach (var item in plan.Items.AsSpan())
        {
            _engine.DataFile.MarkVerified(item.Page);
            if (item.Pages > 1)
                _engine.DataFile.MarkUnverified(item.Page + 1, item.Pages - 1);
        }
    }

    private long NextPiece() => IsUrgent ? FlushPacing.UrgentPieceBytes : FlushPacing.NextPiece(_engine, _mover.HeldJournalBytes);
}
