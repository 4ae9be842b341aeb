using System.Buffers.Binary;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tables;
using Voron.Torture.Damage;
using Voron.Torture.Recorded;
using static Voron.Torture.Boundaries.BoundaryPlace;

namespace Voron.Torture.Boundaries;

/// <summary>
/// Forges ever-increasing numbers to be near their end: none may wrap, and the engine must either continue or report that it cannot.
/// </summary>
internal static class NumberBoundaries
{
    private const int TransactionIdOffset = 56;
    private const int NextTreeIdOffset = TransactionIdOffset + 16;
    private const int EpochOffset = 200;
    private const int JournalEpochOffset = 64;

    public static IEnumerable<(string Name, Action Run)> All
    {
        get
        {
            yield return ("the last transaction ids", LastTransactions);
            yield return ("the last tree id", LastTree);
            foreach (var changes in new[] { 65_535, 65_537, 4 * 65_536 + 1 })
                yield return ($"{changes} versions of a row in one transaction", () => RowVersions(changes));
            yield return ("the greatest transaction", GreatestTransaction);
            foreach (var id in new[] { StateStructure.MaxTransactionId + 1, long.MaxValue, -1, long.MinValue })
                yield return ($"transaction id {id} in the header", () => Refused(TransactionIdOffset, id));
            foreach (var number in new[] { StateStructure.MaxTransactionId, StateStructure.MaxTransactionId + 1000 })
            {
                yield return ($"checkpoint number {number}", () => GoesOn(Forge(48, number)));
                yield return ($"epoch of the journal {number}", () => GoesOn(ForgeEpochs(number)));
                yield return ($"sequence of records {number}", () => GoesOn(Forge(216, number)));
            }
            foreach (var place in new[] { 48, 64, 200, 208, 216, 232, 240, 248 })
            {
                yield return ($"the highest number at byte {place} of the header", () => Refused(place, long.MaxValue));
                yield return ($"a negative number at byte {place} of the header", () => Refused(place, -1));
            }
        }
    }

    private static void LastTransactions()
    {
        const int left = 3;
        var disk = Forge(TransactionIdOffset, StateStructure.MaxTransactionId - left);
        try
        {
            for (var pass = 0; pass < 2; pass++)
            {
                using var environment = StorageEnvironment.Open(disk, StoreMaker.Options(TornPageProtection.Checksums));
                for (var i = 0; i < left && pass == 0; i++)
                {
                    using var writing = environment.BeginWrite();
                    writing.CreateTree("last").Put([(byte)i], [1]);
                    writing.Commit();
                }
                var message = Throws<StorageFullException>(() => environment.BeginWrite(), "a transaction behind the last id").Message;
                Require(message.Contains("transaction ids", StringComparison.Ordinal), $"the message does not say why: {message}");
                Throws<StorageFullException>(
                    () => environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult(), "a transaction behind the last id");
                Throws<StorageFullException>(
                    () => environment.WriteAsync(writing => writing.CreateTree("no")).AsTask().GetAwaiter().GetResult(),
                    "an operation behind the last id");
                environment.Flush();
                Require(environment.Verify().IsSound, "it is not sound");
                using var reading = environment.BeginRead();
                Require(reading.TransactionId == StateStructure.MaxTransactionId, $"transaction {reading.TransactionId} is the last");
                Require(reading.OpenTree("last").Count == left, "the writes of the last transactions are missing");
            }
        }
        finally
        {
            disk.Free();
        }
    }

    private static void LastTree()
    {
        var disk = Forge(NextTreeIdOffset, uint.MaxValue - 1);
        try
        {
            using var environment = StorageEnvironment.Open(disk, StoreMaker.Options(TornPageProtection.Checksums));
            using (var writing = environment.BeginWrite())
            {
                writing.CreateTree("last").Put([1], [1]);
                var message = Throws<StorageFullException>(() => writing.CreateTree("no"), "a tree behind the last id").Message;
                Require(message.Contains("tree ids", StringComparison.Ordinal), $"the message does not say why: {message}");
                writing.CreateTree("last").Put([2], [2]);
                writing.Commit();
            }
            Require(environment.Verify().IsSound, "it is not sound");
        }
        finally
        {
            disk.Free();
        }
    }

    // The row that comes after a deleted one has a higher version.
    private static void RowVersions(int changes)
    {
        using var place = new BoundaryPlace(4096);
        var newest = RowVersion.None;
        place.Write(writing => writing.CreateTable(RecordedStore.Rows));
        place.Write(writing =>
        {
            var table = writing.OpenTable(RecordedStore.Rows);
            for (var i = 0; i < changes; i++)
            {
                var version = table.Upsert(new RecordedRow(2, i & 1));
                Require(version.Value > newest.Value, $"change {i} of a row has given it version {version} behind {newest}");
                newest = version;
            }
        });
        place.Write(writing => writing.OpenTable(RecordedStore.Rows).Delete(2, newest));
        place.Reopen();
        place.Write(writing =>
        {
            var version = writing.OpenTable(RecordedStore.Rows).Insert(new RecordedRow(2, 1));
            Require(version.Value > newest.Value, $"a row has version {version}, and one with its key has had {newest}");
        });
    }

    private static void GreatestTransaction()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { MaxTransactionBytes = 1 << 20 });
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        Throws<TransactionTooLargeException>(
            () =>
            {
                for (var i = 0; i < 2_000; i++)
                    tree.Put([(byte)(i >> 8), (byte)i], new byte[1_000]);
            },
            "a transaction above its limit");
    }

    /// <summary>Checks that the environment can be opened, written, closed and opened again.</summary>
    private static void GoesOn(ImageDisk disk)
    {
        try
        {
            for (var pass = 0; pass < 3; pass++)
            {
                using var environment = StorageEnvironment.Open(disk, StoreMaker.Options(TornPageProtection.Checksums));
                for (var i = 0; i < 4; i++)
                {
                    using var writing = environment.BeginWrite();
                    writing.CreateTree("after").Put([(byte)pass, (byte)i], [1]);
                    writing.Commit();
                    environment.Flush();
                }
                using var reading = environment.BeginRead();
                Require(reading.OpenTree("after").Count == (pass + 1) * 4, "the written entries are missing");
                Require(environment.Verify().IsSound, "it is not sound");
            }
        }
        finally
        {
            disk.Free();
        }
    }

    private static void Refused(int field, long number)
    {
        var disk = Forge(field, number);
        try
        {
            var before = disk.Changes;
            var message = Throws<CorruptionException>(
                () => StorageEnvironment.Open(disk, StoreMaker.Options(TornPageProtection.Checksums)).Dispose(), $"{number} at byte {field}").Message;
            Require(message.Contains(ForgedStore.HeaderFile, StringComparison.Ordinal), $"the message does not name the file: {message}");
            Require(disk.Changes == before, "an opening that failed has changed a file");
        }
        finally
        {
            disk.Free();
        }
    }

    // The environment has been closed and needs nothing from its journal, so the numbers can be arbitrary.
    private static ImageDisk Forge(int field, long number)
    {
        var closed = StoreMaker.Closed();
        var store = new ForgedStore(closed.Files.Without(name => name.StartsWith("journal-", StringComparison.Ordinal)));
        var header = store.Bytes(ForgedStore.HeaderFile);
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            var target = header[(slot * JournalFormat.Block)..];
            // Without a journal, replay starts before any position.
            target.Slice(184, JournalPosition.Size).Clear();
            BinaryPrimitives.WriteUInt32LittleEndian(target[256..], 0);
            BinaryPrimitives.WriteInt64LittleEndian(target[field..], number);
        }
        store.Seal();
        return new ImageDisk(store.Files, isLent: true);
    }

    // Advances all files by the same number of epochs.
    private static ImageDisk ForgeEpochs(long number)
    {
        var store = new ForgedStore(StoreMaker.Closed().Files);
        var header = store.Bytes(ForgedStore.HeaderFile);
        var more = number - BinaryPrimitives.ReadInt64LittleEndian(header[EpochOffset..]);
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
            Add(header[((slot * JournalFormat.Block) + EpochOffset)..], more);
        foreach (var journal in store.Journals)
        {
            Add(store.Bytes(journal)[JournalEpochOffset..], more);
            Add(store.Bytes(journal)[(JournalFormat.Block + JournalEpochOffset)..], more);
        }
        store.Seal();
        return new ImageDisk(store.Files, isLent: true);
    }

    private static void Add(Span<byte> target, long more) =>
        BinaryPrimitives.WriteInt64LittleEndian(target, BinaryPrimitives.ReadInt64LittleEndian(target) + more);
}
