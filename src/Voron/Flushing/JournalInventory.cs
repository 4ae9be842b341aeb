using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Primitives;

namespace Voron.Flushing;

/// <summary>The journal files of a directory, as their headers tell.</summary>
/// <remarks>
/// A file whose name was never made durable may come back under the one that it had while it was being made, with all the commits that were
/// written to it since (a rename that the file system has lost). So what counts is the header, whatever the name.
/// </remarks>
/// <param name="Files">Those that have a life.</param>
/// <param name="WithoutEpoch">Those that are unfinished, and proven to have no record that could be needed: to be deleted.</param>
internal sealed unsafe record JournalInventory(IReadOnlyList<JournalFileInfo> Files, IReadOnlyList<string> WithoutEpoch)
{
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="checkpoint">Its header.</param>
    /// <param name="makesDurable">Makes what a killed process left visible of each file durable, and reads what the device has then.</param>
    /// <exception cref="CorruptionException">The header of a file is damaged.</exception>
    public static JournalInventory Read(IDisk disk, in CheckpointHeader checkpoint, bool makesDurable = false)
    {
        var files = new List<JournalFileInfo>();
        var withoutEpoch = new List<string>();
        foreach (var entry in disk.List())
        {
            var isNamed = JournalFile.IndexOf(entry.Name) >= 0;
            if (!isNamed && JournalFile.UnnamedIndexOf(entry.Name) < 0)
                continue;

            using var file = disk.Open(entry.Name, DiskOpen.Existing, DiskAccess.WriteThrough);
            if (!isNamed && !IsOurs(file))
                continue;
            if (makesDurable)
            {
                file.Sync();
                file.DropCache();
            }

            var info = JournalFileHeaders.Read(file, entry.Name, checkpoint.EnvironmentId, out var abandoned);
            if (info != null && (isNamed || !PlantedFault.ForgetUnnamedJournals))
            {
                files.Add(info);
                continue;
            }

            var first = FirstRecord(file);
            if (abandoned is not { } life)
            {
                if (isNamed || (first.Marker == JournalFormat.RecordMarker && !PlantedFault.ForgetUnnamedJournals))
                    throw new CorruptionException($"Neither copy of the header of '{file.Path}' is valid: a journal file is damaged.");
            }
            else if (life.Number >= checkpoint.ReplayStart.Epoch
                && first.Marker == JournalFormat.RecordMarker && first.Incarnation == life.Incarnation)
            {
                // A file is taken again when its records are needed no more, or when it never had any.
                throw new CorruptionException(
                    $"The header of '{file.Path}' is damaged: it ends life {life.Number}, whose records replay needs from life {checkpoint.ReplayStart.Epoch} on.");
            }

            withoutEpoch.Add(entry.Name);
        }

        return new JournalInventory(files, withoutEpoch);
    }

    /// <summary>Whether a file under a name of ours was begun by us: it has nothing in it yet, or a header's first bytes.</summary>
    private static bool IsOurs(DiskFile file)
    {
        ulong first = 0;
        if (file.Length >= JournalFormat.Block)
            file.Read(0, new Span<byte>(&first, sizeof(ulong)));
        return file.Length == 0 || (file.Length >= JournalFormat.Block && first is 0 or JournalFormat.FileMagic);
    }

    /// <summary>What stands where the first record would; zeros when the file ends before.</summary>
    private static RecordHeader FirstRecord(DiskFile file)
    {
        RecordHeader record = default;
        if (file.Length >= JournalFormat.FirstRecordOffset + JournalFormat.Block)
            file.Read(JournalFormat.FirstRecordOffset, new Span<byte>(&record, RecordHeader.Size));
        return record;
    }

    /// <summary>Whether the header says that the environment was closed in good order. It goes on to say so until the next checkpoint.</summary>
    public static bool WasClosed(in CheckpointHeader checkpoint) =>
        (checkpoint.Flags & CheckpointFlags.ClosedCleanly) != 0 && checkpoint.JournalSnapshotNumber == 0;

    /// <summary>
    /// Whether nothing has changed since the environment was closed in good order: a writer begins a life of a journal file before it
    /// changes anything.
    /// </summary>
    public bool IsUntouchedSince(in CheckpointHeader checkpoint)
    {
        if (!WasClosed(checkpoint) || WithoutEpoch.Count > 0)
            return false;
        foreach (var file in Files)
        {
            if (file.Header.Epoch > checkpoint.ReplayStart.Epoch && !PlantedFault.BelieveClosedHeader)
                return false;
        }

        return true;
    }
}
