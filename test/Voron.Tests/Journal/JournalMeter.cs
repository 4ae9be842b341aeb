using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Journal;

namespace Voron.Tests.Journal;

/// <summary>How many bytes transactions write to the journal: their records as they are stored, without compression.</summary>
/// <remarks>
/// Many new pages of a transaction are written directly, and are not in its record. What is measured should therefore change existing pages,
/// and be some hundred operations, beside which the head of the record is little.
/// </remarks>
internal static class JournalMeter
{
    /// <summary>Returns the options without compression of the journal.</summary>
    public static StorageOptions Uncompressed(this StorageOptions options)
    {
        options.JournalCompression = JournalCompression.Never;
        return options;
    }

    /// <summary>Commits a change, and returns the bytes of its record without the padding to a whole block.</summary>
    public static long Journaled(this StorageEnvironment environment, Action<WriteTransaction> change)
    {
        using var writing = environment.BeginWrite();
        var id = writing.TransactionId;
        change(writing);
        writing.Commit();
        return RecordOf(environment.Internals.Engine.Disk, id);
    }

    /// <summary>Awaits what commits transactions of its own, and returns the bytes of all their records, with padding.</summary>
    public static async Task<long> JournaledAsync(this StorageEnvironment environment, Func<ValueTask> change)
    {
        var before = environment.GetStatistics().JournalTransactionBytes;
        await change();
        return environment.GetStatistics().JournalTransactionBytes - before;
    }

    /// <summary>Requires that a change writes something for each of its operations, but no more than a number of bytes.</summary>
    public static void MustJournal(this StorageEnvironment environment, int operations, double most, Action<WriteTransaction> change) =>
        MustFit(environment.Journaled(change), operations, most);

    /// <summary>Requires that operations have written some bytes each, but no more than a number, and prints how many.</summary>
    public static void MustFit(long bytes, int operations, double most)
    {
        var each = (double)bytes / operations;
        TestContext.Current.TestOutputHelper?.WriteLine($"{bytes} bytes, {each:F1} for each operation, of at most {most}");
        each.Should().BeInRange(1, most);
    }

    private static long RecordOf(IDisk disk, long transactionId)
    {
        foreach (var name in disk.List().Select(static entry => entry.Name).Where(JournalFile.IsName))
        {
            using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.Buffered);
            var bytes = new byte[file.Length];
            file.Read(0, bytes);
            for (var at = 0; at < bytes.Length; at += disk.Alignment)
            {
                var header = MemoryMarshal.Read<RecordHeader>(bytes.AsSpan(at));
                var isIts = header.Marker == JournalFormat.RecordMarker && header.Kind == RecordKind.Transaction && header.Offset == at
                    && header.TransactionId == transactionId;
                if (isIts)
                    return header.HeaderSize + header.StoredLength;
            }
        }

        throw new InvalidOperationException($"The journal has no record of transaction {transactionId}.");
    }
}
