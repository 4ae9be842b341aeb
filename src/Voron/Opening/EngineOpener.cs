using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Recovery;
using Voron.Scratch;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees.KeyHeads;

namespace Voron.Opening;

/// <summary>Opens and recovers the parts of an environment in the right order.</summary>
internal static unsafe class EngineOpener
{
    /// <summary>Opens the environment on a disk. The disk and the lock are disposed if this fails.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="directoryLock">The lock of the environment.</param>
    /// <param name="options">Valid options.</param>
    /// <param name="logger">The logger as the engine uses it: see <see cref="GuardedLogger"/>.</param>
    /// <param name="meter">The meter of its metrics.</param>
    public static OpenedEngine Open(IDisk disk, EnvironmentLock directoryLock, StorageOptions options, ILogger logger, EngineMeter meter)
    {
        var owned = new Stack<IDisposable>();
        owned.Push(disk);
        owned.Push(directoryLock);
        try
        {
            return Open(disk, directoryLock, options, logger, meter, owned);
        }
        catch (Exception e)
        {
            DisposeAll(owned);
            OpeningFailure.ThrowTranslated(disk.Path, options, e);
            throw;
        }
    }

    private static OpenedEngine Open(
        IDisk disk, EnvironmentLock directoryLock, StorageOptions options, ILogger logger, EngineMeter meter, Stack<IDisposable> owned)
    {
        var name = EnvironmentName.Take(options.Name ?? disk.Path);
        owned.Push(name);
        var checkpoints = HeaderFile.Open(disk, makesDurable: !options.ReadOnly && !PlantedFault.SkipSyncAtOpen);
        owned.Push(checkpoints);
        var header = checkpoints.Current;
        var format = new EnvironmentFormat();
        format.Adopt(header);
        var layout = new SectionMapLayout((int)header.PageSize);
        CheckPageSize(layout, options, disk);
        options = options.Freeze(layout.PageSize);
        var poison = new PoisonState(disk.Path);
        var dataFile = OpenDataFile(disk, header, layout, format, poison, BytesBesideTables(layout.PageSize, options));
        owned.Push(dataFile);
        dataFile.IsNew = directoryLock.HasMadeFiles;
        dataFile.ReadAhead = new ReadAhead(options.ReadAheadBytes);
        directoryLock.TakeDataFile(disk, options.ReadOnly || PlantedFault.LockHeaderAlone);
        var journals = ReadJournals(disk, header, dataFile, makesDurable: !options.ReadOnly && !PlantedFault.SkipSyncAtOpen);
        var memory = new EnvironmentMemory(
            options.ReadOnly ? TemporaryFiles.ForReader(logger) : new TemporaryFiles(disk), options.RecordMemoryBytes);
        owned.Push(memory);
        var frames = MakeFrames(dataFile, memory, options);
        owned.Push(frames);
        var versions = new VersionTable(dataFile.PageLimit, memory.Account, dataFile.Addresses);
        owned.Push(versions);
        versions.EnsureCapacity(dataFile.CapacityPages);
        var recovered = CrashRecovery.Run(disk, header, journals, new RecoveryTarget(dataFile, frames, versions, memory.Records), logger);

        dataFile.SettledPages = recovered.State.PageCount;
        var first = new PublishedState { State = recovered.State, JournalEnd = recovered.End, Map = dataFile.MapAddress };
        var ring = new StateRing(first);
        owned.Push(ring);
        var keyHeads = new BranchKeyHeads(layout.PageSize, dataFile.PageLimit, options.BranchKeyHeadBytes, memory.Account, dataFile.Addresses);
        owned.Push(keyHeads);
        var snapshots = MakeSnapshots(ring, dataFile, versions, options, memory.Account, owned);
        var engine = new Engine
        {
            Options = options,
            Logger = logger,
            Name = name,
            Meter = meter,
            Observers = new Observers(options, logger, meter, name),
            Disk = disk,
            Poison = poison,
            EnvironmentId = header.EnvironmentId,
            Format = format,
            PageSize = layout.PageSize,
            Layout = layout,
            DataFile = dataFile,
            Versions = versions,
            BranchKeyHeads = keyHeads,
            DataFileKeyHeads = snapshots.DataFileKeyHeads,
            Frames = frames,
            Ring = ring,
            Readers = snapshots.Readers,
            Snapshots = snapshots,
            Memory = memory,
        };
        var publisher = new CommitPublisher(engine, engine.MadeDurable);
        engine.Counters.DurableTransactionId = recovered.State.TransactionId;
        // Runs before anything is deleted or written, so that a damaged environment stays unchanged.
        VerifyDirectExtents(engine, recovered);
        if (options.ReadOnly)
            ReplayedFeatures.Name(engine, checkpoints, recovered);
        else
            OpenForWriting(engine, publisher, checkpoints, recovered, owned);
        return new OpenedEngine(directoryLock, engine, checkpoints, publisher, recovered);
    }

    // An environment keeps the page size with which it was created.
    private static void CheckPageSize(SectionMapLayout layout, StorageOptions options, IDisk disk)
    {
        if (options.PageSize == null || options.PageSize == layout.PageSize)
            return;
        throw new ArgumentException(
            $"The environment in '{disk.Path}' has a page size of {layout.PageSize} bytes, but {nameof(StorageOptions.PageSize)} is " +
            $"{options.PageSize}, and the page size of an existing environment cannot be changed. Leave {nameof(StorageOptions.PageSize)} unset, " +
            $"or set it to {layout.PageSize}. For another page size, copy the content to a new environment.",
            nameof(options));
    }

    private static FrameAllocator MakeFrames(DataFile dataFile, EnvironmentMemory memory, StorageOptions options) =>
        new(dataFile.PageSize, options.ScratchMemoryBytes, new SpillFile(memory.TemporaryFiles), memory.Account) { Addresses = dataFile.Addresses };

    private static SnapshotSource MakeSnapshots(
        StateRing ring, DataFile dataFile, VersionTable versions, StorageOptions options, MemoryAccount account, Stack<IDisposable> owned)
    {
        var keyHeads = options.KeyHeadCacheBytes == 0
            ? null
            : new DataFileKeyHeads(dataFile.PageSize, options.KeyHeadCacheBytes, account, dataFile.Addresses);
        if (keyHeads != null)
            owned.Push(keyHeads);

        var dictionaries = new DictionaryCache(options.DictionaryBytes, account);
        owned.Push(dictionaries);

        // After the key heads, whose memory extends to their end.
        var readers = new ReaderTable(ring, dataFile.Addresses);
        owned.Push(readers);
        return new SnapshotSource
        {
            PageSize = dataFile.PageSize,
            DataFile = dataFile,
            Versions = versions,
            Readers = readers,
            Dictionaries = dictionaries,
            DataFileKeyHeads = keyHeads,
            VerifyEveryRead = options.VerifyEveryRead,
        };
    }

    // The bytes in the address reservation of an environment, without the tables indexed by page.
    private static nuint BytesBesideTables(int pageSize, StorageOptions options) =>
        FrameAllocator.FirstAddressBytes(pageSize, options.ScratchMemoryBytes)
        + BranchKeyHeads.EntryAddressBytes(pageSize, options.BranchKeyHeadBytes)
        + ReaderTable.AddressBytes
        + (options.KeyHeadCacheBytes == 0 ? 0 : DataFileKeyHeads.AddressBytes(pageSize, options.KeyHeadCacheBytes));

    private static DataFile OpenDataFile(
        IDisk disk, in CheckpointHeader header, SectionMapLayout layout, EnvironmentFormat format, PoisonState poison, nuint bytesBesideTables)
    {
        var file = OpenExisting(disk);
        AddressReservation? reservation = null;
        DiskFile? unbuffered = null;
        try
        {
            var needed = header.State.PageCount * layout.PageSize;
            if (file.Length < needed)
                throw new CorruptionException($"'{file.Path}' has been cut short: it has {file.Length} bytes, but {needed} are in use.");
            if (disk is { MapsSeeUnbufferedWrites: true, IsReadOnly: false })
                unbuffered = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Unbuffered);
            var pages = Math.Max(file.Length / layout.PageSize, header.State.PageCount);
            var addresses = AddressPlan.Reserve(disk.Path, pages, disk.VolumeBytes, layout, bytesBesideTables);
            reservation = addresses.Reservation;
            return new DataFile(file, header.EnvironmentId, layout.PageSize, addresses, poison, unbuffered) { Format = format };
        }
        catch
        {
            reservation?.Dispose();
            unbuffered?.Dispose();
            file.Dispose();
            throw;
        }
    }

    private static DiskFile OpenExisting(IDisk disk)
    {
        try
        {
            return disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            throw new CorruptionException(
                $"The data file '{DataFile.FileName}' is missing from '{disk.Path}', which contains the header of an environment. Restore the " +
                "whole directory from a backup.", e);
        }
    }

    // A killed process can leave data visible that is not durable, and nothing must be built on it. Everything that the header of a closed
    // environment names was synced before the header was written, so only the header itself can be not yet durable. A sync does not make durable
    // the data that a failed write left in the page cache: that data must leave the cache, so that recovery does not take it for a record.
    private static JournalInventory ReadJournals(IDisk disk, in CheckpointHeader header, DataFile dataFile, bool makesDurable)
    {
        if (!makesDurable)
            return JournalInventory.Read(disk, header);

        // Journal files are read a second time only if the first reading has shown that the environment was used after its close.
        if (JournalInventory.WasClosed(header))
        {
            var found = JournalInventory.Read(disk, header);
            if (found.IsUntouchedSince(header))
                return found;
        }

        dataFile.File.Sync();
        dataFile.File.DropCache();
        if (header.JournalSnapshotNumber != 0)
            JournalSnapshotFile.MakeDurable(disk, header.JournalSnapshotNumber);
        var journals = JournalInventory.Read(disk, header, makesDurable: true);
        disk.SyncDirectory();
        return journals;
    }

    // If the sync of an aborted flush failed, the stamp that the flush left may be in the page cache only. The next header names the stamp.
    private static void KeepStamp(DataFile dataFile, in CheckpointHeader header, ulong stamp)
    {
        if (stamp == header.DataFileStamp)
            return;
        dataFile.WriteStamp(stamp);
        dataFile.Sync();
    }

    private static void OpenForWriting(
        Engine engine, CommitPublisher publisher, HeaderFile checkpoints, RecoveryResult recovered, Stack<IDisposable> owned)
    {
        KeepStamp(engine.DataFile, checkpoints.Current, recovered.Stamp);
        checkpoints.CompleteAmendment();
        ReplayedFeatures.Name(engine, checkpoints, recovered);
        checkpoints.SkipTo(recovered.HighestNumber);
        OpenChangeLog(engine, checkpoints.Current, recovered, owned);
        OpenJournal(engine, publisher, checkpoints, recovered, owned);
    }

    private static void OpenChangeLog(Engine engine, in CheckpointHeader header, RecoveryResult recovered, Stack<IDisposable> owned)
    {
        engine.ChangedPages = new ChangedPageTracker(
            engine.Disk, header, engine.Format, engine.Heap, engine.Logger, isWanted: engine.Options.TrackChanges)
        {
            LimitBytes = engine.Options.ChangeLogBytes,
        };
        owned.Push(engine.ChangedPages);
        foreach (var (id, page, pages) in recovered.DirectWrites)
            engine.ChangedPages.NoteDirectWrite(id, page, pages);
    }

    private static void OpenJournal(
        Engine engine, CommitPublisher publisher, HeaderFile checkpoints, RecoveryResult recovered, Stack<IDisposable> owned)
    {
        Debug.Assert(engine.Journal == null && engine.JournalFiles == null, "The journal must be opened once, after recovery.");
        JournalSnapshotFile.DeleteOthers(engine.Disk, checkpoints.Current, checkpoints.Previous);
        var options = engine.Options;
        var files = new JournalFileSet(
            engine.Disk, engine.EnvironmentId, engine.PageSize, options.InitialJournalFileBytes, options.MaxJournalFileBytes, engine.Logger)
        {
            Format = engine.Format,
        };
        owned.Push(files);
        files.Adopt(
            recovered.Files, recovered.WithoutEpoch, checkpoints.Current.ReplayStart, recovered.Unused, recovered.Ends);
        engine.JournalFiles = files;
        engine.Journal = new JournalWriter(
            files, engine.Poison, publisher, engine.EnvironmentId, new JournalStart(recovered.End, recovered.Seals),
            new JournalResources(engine.Memory.Records, options.ThreadIdleTime, options.LazyInterval, engine.Disk.WaitsForDevice)
            {
                SlowWrite = engine.Disk.SlowWrite,
            })
        {
            WritesAtOnce = engine.Disk.IsVolatile,
        };
        owned.Push(engine.Journal);
        if (options.BackgroundFlush && engine.Disk.HasUnnamedFiles)
            new FirstFilePreparation(files, recovered.Seals).Offer(toPool: true);
    }

    // Verifies the large values that the replayed records name.
    private static void VerifyDirectExtents(Engine engine, RecoveryResult recovered)
    {
        if (recovered.DirectExtents.Count == 0)
            return;
        var snapshot = new SnapshotPages(engine.Snapshots);
        snapshot.Begin();
        foreach (var (firstPage, value) in recovered.DirectExtents)
            VerifyDirectExtent(snapshot, firstPage, value);
        snapshot.End();
        snapshot.Retire();
    }

    private static void VerifyDirectExtent(SnapshotPages snapshot, long firstPage, in DirectExtent value)
    {
        var reference = new LargeExtentReference { FirstPage = firstPage, Length = value.Length, Checksums = value.Checksums };
        if (value.Length is < 0 or > int.MaxValue)
            throw new CorruptionException($"The journal contains a value of {value.Length} bytes at page {firstPage}.");
        if (value.Length > 0)
            snapshot.ReadLarge(reference, 0, (int)value.Length);
    }

    private static void DisposeAll(Stack<IDisposable> owned)
    {
        while (owned.TryPop(out var part))
            part.Dispose();
    }
}
