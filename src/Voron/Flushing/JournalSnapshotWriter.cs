using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Writes journal snapshots.</summary>
internal static unsafe class JournalSnapshotWriter
{
    private const int PagesPerRecord = 1024;
    private const int FirstRecordBytes = 1 << 20;

    // An extent may have thousands of pages, and a record is written from one span.
    private const long MaxRecordBytes = 64 << 20;

    // A buffer grows by doubling, and must also hold the next extent.
    private const int PartOfMemory = 4;

    /// <summary>Writes the pages of a plan to a new file, which is durable under its name when this method returns.</summary>
    /// <exception cref="StorageFullException">There is not enough space for the file; nothing is left of it.</exception>
    /// <exception cref="StorageAccessException">The file could not be written.</exception>
    public static JournalSnapshotInfo Write(ReadingEngine engine, FlushPlan plan, in CheckpointHeader checkpoint)
    {
        var number = JournalSnapshotFile.NewNumber(engine.Disk, checkpoint);
        var incarnation = RandomId.New();
        var name = JournalSnapshotFile.NameOf(number);
        var recordBytes = Math.Min(MaxRecordBytes, engine.Memory.Records.LimitBytes / PartOfMemory);
        var most = MaxBytes(plan, engine.PageSize, recordBytes);
        var available = engine.Disk.AvailableBytes;
        if (most > available && !PlantedFault.SnapshotWhatFits)
            throw new StorageFullException($"'{name}' may take {most} bytes, but '{engine.Disk.Path}' has space for only {available}.");
        using var buffer = new RecordBuffer(FirstRecordBytes, engine.Memory.Records);
        try
        {
            using var file = engine.Disk.Open(name, DiskOpen.New, DiskAccess.WriteThrough);

            // Allocates everything before the first page is written, so that a lack of space is known immediately.
            file.Allocate(0, PlantedFault.SnapshotWhatFits ? 0 : most);
            var offset = WritePages(engine, file, buffer, plan, new RecordTarget(incarnation, recordBytes));
            file.SetLength(offset);
            file.Sync();
            engine.Disk.SyncDirectory();
            return new JournalSnapshotInfo(number, offset, incarnation);
        }
        catch (DiskException e)
        {
            JournalSnapshotFile.Delete(engine.Disk, number);
            if (e.Error == DiskError.NoSpace)
                throw new StorageFullException($"There is not enough space for '{name}': {e.Message}", e);
            throw new StorageAccessException($"'{name}' could not be written: {e.Message}", e);
        }
        catch (OutOfMemoryException)
        {
            JournalSnapshotFile.Delete(engine.Disk, number);
            throw;
        }
    }

    private static long WritePages(ReadingEngine engine, DiskFile file, RecordBuffer buffer, FlushPlan plan, in RecordTarget target)
    {
        var offset = 0L;
        var sequence = 0L;
        var freed = 0;
        var item = 0;

        // One record at least: its state is that of the snapshot, even if no page has changed since the checkpoint.
        while (sequence == 0 || item < plan.Items.Count || freed < plan.Freed.Count)
        {
            var record = new RecordBuilder(buffer, RecordKind.JournalSnapshot, engine.Format.Version);
            if (sequence == 0 && (plan.Items.Count == 0 || plan.Items[0].Page != 0))
                AddPageZero(engine, ref record);
            for (var end = Math.Min(plan.Items.Count, item + PagesPerRecord); item < end && record.Length < target.RecordBytes; item++)
            {
                var page = plan.Items[item];
                if (((PageHeader*)page.Frame)->Kind == PageKind.Overflow)
                    record.AddExtent(page.Page, page.Frame, page.Pages, engine.PageSize);
                else
                    record.AddPage(page.Page, page.Frame, null, engine.PageSize, ulong.MaxValue);
            }

            for (var end = Math.Min(plan.Freed.Count, freed + PagesPerRecord); freed < end; freed++)
                record.AddFree(plan.Freed[freed], 1);

            record.Finish(plan.Target.State, null);
            var header = buffer.Header;
            header->Incarnation = target.Incarnation;
            header->Offset = offset;
            header->Sequence = ++sequence;
            header->Checksum = RecordChecksum.Compute(engine.EnvironmentId, buffer.Buffer);
            file.Write(offset, new ReadOnlySpan<byte>(buffer.Buffer, checked((int)buffer.Length)));
            offset += buffer.Length;
        }

        return offset;
    }

    // Every flush stamps the sector of page 0. A recovery from the journal snapshot uses no flush records up to the snapshot's transaction (see
    // FlushListCollector), so it would have no image of the page after a flush to exactly there.
    private static void AddPageZero(ReadingEngine engine, ref RecordBuilder record)
    {
        var file = engine.DataFile;
        if (file.TryVerify(0, out _) != null)
            return;
        var page = (byte*)EngineMemory.Allocate((nuint)engine.PageSize);
        try
        {
            file.File.Read(0, new Span<byte>(page, engine.PageSize));
            record.AddPage(0, page, null, engine.PageSize, ulong.MaxValue);
        }
        finally
        {
            EngineMemory.Free(page);
        }
    }

    // All pages in full, including page 0, however many zeros they contain, plus a header and padding for each record.
    private static long MaxBytes(FlushPlan plan, int pageSize, long recordBytes)
    {
        var records = (plan.Items.Count + plan.Freed.Count) / PagesPerRecord + (long)plan.Pages * pageSize / recordBytes + 3;
        return JournalFormat.AlignUp(
            (plan.Pages + 1) * ((long)pageSize + PageEntry.Size) + (plan.Freed.Count + (long)plan.Items.Count) * PageEntry.Size
            + records * 2 * JournalFormat.Block);
    }

    /// <summary>The records of a journal snapshot.</summary>
    /// <param name="Incarnation">The id of the file.</param>
    /// <param name="RecordBytes">The length at which a record ends.</param>
    private readonly record struct RecordTarget(RandomId Incarnation, long RecordBytes);
}

/// <summary>A checkpoint's description of a journal snapshot; number 0 means none.</summary>
internal readonly record struct JournalSnapshotInfo(long Number, long Length, RandomId Incarnation);
