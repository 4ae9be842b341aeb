using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>A checkpoint's description of a journal snapshot; number 0 means none.</summary>
internal readonly record struct JournalSnapshotInfo(long Number, long Length, UInt128 Incarnation);

/// <summary>A file that holds every unflushed page as of one transaction in full, and so replaces the journal up to there.</summary>
/// <remarks>
/// The file is a sequence of records like those of a journal. Each record holds some pages, encoded against zeros, and frees; all records
/// carry the transaction's state. The file is complete and synced, and so is its name, before the header names it.
/// </remarks>
internal static unsafe class JournalSnapshotFile
{
    private const int PagesPerRecord = 1024;

    // An extent may have thousands of pages, and a record is written from one span.
    private const long MaxRecordBytes = 64 << 20;

    // Far below the point where adding one could overflow.
    private const long MaxNewNumber = 999_999_999_999;

    private const string Prefix = "rewrite-";
    private const string Suffix = ".voron";

    public static string NameOf(long number) => NumberedName.Of(Prefix, number, Suffix);

    /// <summary>Returns the number in the name of a journal snapshot, or -1.</summary>
    public static long NumberOf(string name) => NumberedName.Parse(name, Prefix, Suffix);

    /// <summary>Deletes the remains of unfinished journal snapshots, and those that neither slot of the header names any more.</summary>
    public static void DeleteOthers(IDisk disk, CheckpointFile checkpoints)
    {
        // An unreadable slot may name any of them.
        if (checkpoints.Previous is not { } previous)
            return;
        var current = checkpoints.Current.JournalSnapshotNumber;
        foreach (var entry in disk.List())
        {
            var number = NumberOf(entry.Name);
            if (number > 0 && number != current && number != previous.JournalSnapshotNumber && IsOurs(disk, entry.Name))
                TryDelete(disk, entry.Name);
        }
    }

    /// <summary>
    /// Returns whether this engine began a file under one of its names: the file has no content yet, or a record's first bytes.
    /// </summary>
    private static bool IsOurs(IDisk disk, string name)
    {
        try
        {
            using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
            ulong marker = 0;
            if (file.Length >= JournalFormat.Block)
                file.Read(0, new Span<byte>(&marker, sizeof(ulong)));
            return file.Length == 0 || (file.Length >= JournalFormat.Block && marker is 0 or JournalFormat.RecordMarker);
        }
        catch (DiskException)
        {
            return false;
        }
    }

    /// <summary>Returns a number above all that were ever used, and above those of all existing files.</summary>
    private static long NewNumber(Engine context, in CheckpointHeader checkpoint)
    {
        IReadOnlyList<DiskEntry> entries;
        try
        {
            entries = context.Disk.List();
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"The files of '{context.Disk.Path}' cannot be listed, to find a name for a rewrite file: {e.Message}", e);
        }

        var taken = entries.Select(entry => NumberOf(entry.Name)).Where(number => number < MaxNewNumber).DefaultIfEmpty().Max();
        return Math.Max(taken, Math.Max(checkpoint.JournalSnapshotNumber, checkpoint.CheckpointNumber)) + 1;
    }

    public static JournalSnapshotInfo Write(Engine context, FlushPlan plan, in CheckpointHeader checkpoint)
    {
        var number = NewNumber(context, checkpoint);
        Span<byte> random = stackalloc byte[16];
        RandomNumberGenerator.Fill(random);
        var incarnation = MemoryMarshal.Read<UInt128>(random);
        var name = NameOf(number);
        var most = MaxBytes(plan, context.PageSize);
        var available = context.Disk.AvailableBytes;
        if (most > available && !PlantedFault.SnapshotWhatFits)
            throw new StorageFullException($"'{name}' may take {most} bytes, and '{context.Disk.Path}' has room for {available}.");
        using var entry = new JournalEntry(1 << 20);
        try
        {
            using var file = context.Disk.Open(name, DiskOpen.New, DiskAccess.WriteThrough);

            // Allocates everything before the first page is written, so that a lack of room is known at once.
            file.Allocate(0, PlantedFault.SnapshotWhatFits ? 0 : most);
            var offset = WritePages(context, file, entry, plan, incarnation);
            file.SetLength(offset);
            if (!PlantedFault.LeaveJournalSnapshotUnsynced)
            {
                file.Sync();
                context.Disk.SyncDirectory();
            }

            return new JournalSnapshotInfo(number, offset, incarnation);
        }
        catch (DiskException e)
        {
            TryDelete(context.Disk, name);
            if (e.Error == DiskError.NoSpace)
                throw new StorageFullException($"No room for '{name}': {e.Message}", e);
            throw new StorageAccessException($"'{name}' could not be written: {e.Message}", e);
        }
        catch (OutOfMemoryException)
        {
            TryDelete(context.Disk, name);
            throw;
        }
    }

    /// <summary>Visits the records of the file that a checkpoint names.</summary>
    /// <exception cref="CorruptionException">The file is missing or damaged.</exception>
    public static void Read(IDisk disk, UInt128 environmentId, in CheckpointHeader checkpoint, IRecordVisitor visitor)
    {
        var name = NameOf(checkpoint.JournalSnapshotNumber);
        var header = new JournalFileHeader { Incarnation = checkpoint.JournalSnapshotIncarnation };
        var info = new JournalFileInfo(name, checkpoint.JournalSnapshotLength, header, [], HasBothHeaders: true);
        using var window = new RecordWindow();
        var reader = new JournalFileReader(disk, info, environmentId, window);
        try
        {
            if (reader.CountBytes() < checkpoint.JournalSnapshotLength)
                throw new CorruptionException($"'{reader.Path}' has been cut: it has {reader.CountBytes()} bytes of {checkpoint.JournalSnapshotLength}.");
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            throw new CorruptionException($"The header names '{name}', and it is not in '{disk.Path}'.", e);
        }

        try
        {
            var sequence = 0L;
            for (var offset = 0L; offset < checkpoint.JournalSnapshotLength;)
            {
                var record = reader.TryRead(offset);
                if (record == null || record->Kind != RecordKind.JournalSnapshot || record->Sequence != ++sequence)
                    throw new CorruptionException($"'{reader.Path}' is damaged at offset {offset} of {checkpoint.JournalSnapshotLength}: no valid record {sequence} there.");
                if (StateStructure.FindFault(record->State) is { } fault)
                    throw RecordPayload.Malformed(record, reader.Path, fault);
                visitor.Visit(record, reader.Path);
                offset += record->AlignedLength;
            }
        }
        finally
        {
            reader.Close();
        }
    }

    /// <summary>Makes contents that a killed process left visible durable, and drops them from the page cache.</summary>
    public static void MakeDurable(IDisk disk, long number)
    {
        try
        {
            using var file = disk.Open(NameOf(number), DiskOpen.Existing, DiskAccess.WriteThrough);
            file.Sync();
            file.DropCache();
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            // Recovery reports it as missing.
        }
    }

    public static void Delete(Engine context, long number) => TryDelete(context.Disk, NameOf(number));

    private static long WritePages(Engine context, DiskFile file, JournalEntry entry, FlushPlan plan, UInt128 incarnation)
    {
        var offset = 0L;
        var sequence = 0L;
        var freed = 0;
        var item = 0;
        while (item < plan.Items.Count || freed < plan.Freed.Count)
        {
            var record = new RecordBuilder(entry, RecordKind.JournalSnapshot);
            if (sequence == 0 && (plan.Items.Count == 0 || plan.Items[0].Page != 0))
                AddPageZero(context, ref record);
            for (var end = Math.Min(plan.Items.Count, item + PagesPerRecord); item < end && record.Length < MaxRecordBytes; item++)
            {
                var page = plan.Items[item];
                if (((PageHeader*)page.Frame)->Kind == PageKind.Overflow)
                    record.AddExtent(page.Page, page.Frame, page.Pages, context.PageSize);
                else
                    record.AddPage(page.Page, page.Frame, null, context.PageSize, ulong.MaxValue);
            }

            for (var end = Math.Min(plan.Freed.Count, freed + PagesPerRecord); freed < end; freed++)
                record.AddFree(plan.Freed[freed], 1);

            record.Finish(plan.Target.State, null);
            var header = entry.Header;
            header->Incarnation = incarnation;
            header->Offset = offset;
            header->Sequence = ++sequence;
            header->Checksum = RecordChecksum.Compute(context.EnvironmentId, entry.Buffer);
            file.Write(offset, new ReadOnlySpan<byte>(entry.Buffer, checked((int)entry.Length)));
            offset += entry.Length;
        }

        return offset;
    }

    // A flush up to the journal snapshot writes no image of page 0, but stamps its sector: see FlushRecordWriter.
    private static void AddPageZero(Engine context, ref RecordBuilder record)
    {
        var file = context.DataFile;
        if (file.TryVerify(0, out _) != null)
            return;
        var page = (byte*)EngineMemory.Allocate((nuint)context.PageSize);
        try
        {
            file.File.Read(0, new Span<byte>(page, context.PageSize));
            record.AddPage(0, page, null, context.PageSize, ulong.MaxValue);
        }
        finally
        {
            EngineMemory.Free(page);
        }
    }

    // All pages in full, page 0 included, however many zeros they hold, plus a header and padding for each record.
    private static long MaxBytes(FlushPlan plan, int pageSize)
    {
        const int EntryBytes = 16;
        var records = (plan.Items.Count + plan.Freed.Count) / PagesPerRecord + (long)plan.Pages * pageSize / MaxRecordBytes + 3;
        return JournalFormat.AlignUp(
            (plan.Pages + 1) * ((long)pageSize + EntryBytes) + (plan.Freed.Count + (long)plan.Items.Count) * EntryBytes
            + records * 2 * JournalFormat.Block);
    }

    private static void TryDelete(IDisk disk, string name)
    {
        try
        {
            disk.Delete(name);
        }
        catch (DiskException)
        {
            // The file does not exist, or is left for the next open to delete.
        }
    }
}
