using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>A file that holds every unflushed page as of one transaction in full, and so replaces the journal up to there.</summary>
/// <remarks>
/// The file is a sequence of records like those of a journal. Each record holds some pages, encoded against zeros, and frees; all records
/// carry the transaction's state. The file is complete and synced, and so is its name, before the header names it.
/// </remarks>
internal static unsafe class JournalSnapshotFile
{
    // Far below the point where adding one could overflow.
    private const long MaxNewNumber = 999_999_999_999;

    private const string Prefix = "rewrite-";
    private const string Suffix = ".voron";

    public static string NameOf(long number) => NumberedName.Of(Prefix, number, Suffix);

    /// <summary>Returns the number in the name of a journal snapshot, or -1.</summary>
    public static long NumberOf(string name) => NumberedName.Parse(name, Prefix, Suffix);

    /// <summary>Deletes the remains of unfinished journal snapshots, and those that neither slot of the header names any more.</summary>
    /// <param name="current">The checkpoint.</param>
    /// <param name="previous">The checkpoint before it, in the other slot; null when that slot is unreadable and may name any of them.</param>
    public static void DeleteOthers(IDisk disk, in CheckpointHeader current, in CheckpointHeader? previous)
    {
        if (previous is not { } other)
            return;
        foreach (var entry in disk.List())
        {
            var number = NumberOf(entry.Name);
            if (number > 0 && number != current.JournalSnapshotNumber && number != other.JournalSnapshotNumber
                && OwnFile.IsBegun(disk, entry.Name, JournalFormat.RecordMarker))
                OwnFile.TryDelete(disk, entry.Name);
        }
    }

    /// <summary>Returns a number above all that were ever used, and above those of all existing files.</summary>
    public static long NewNumber(IDisk disk, in CheckpointHeader checkpoint)
    {
        IReadOnlyList<DiskEntry> entries;
        try
        {
            entries = disk.List();
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"The directory '{disk.Path}' cannot be listed to find an unused name for a journal snapshot: {e.Message}", e);
        }

        var taken = entries.Select(entry => NumberOf(entry.Name)).Where(number => number < MaxNewNumber).DefaultIfEmpty().Max();
        return Math.Max(taken, Math.Max(checkpoint.JournalSnapshotNumber, checkpoint.CheckpointNumber)) + 1;
    }

    /// <summary>Makes durable the contents that a killed process left visible, and drops them from the page cache.</summary>
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

    public static void Delete(IDisk disk, long number) => OwnFile.TryDelete(disk, NameOf(number));
}
