using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>The journal files of a directory, according to their headers.</summary>
/// <remarks>
/// A file whose name was never made durable may reappear under the name that it had during its creation, with all the commits that were written to
/// it since (the file system has lost the rename). The header therefore decides, not the name.
/// </remarks>
/// <param name="Files">The files that have an epoch.</param>
/// <param name="WithoutEpoch">The unfinished files, proven to have no record that could be needed: to be deleted.</param>
internal sealed unsafe record JournalInventory(IReadOnlyList<JournalFileInfo> Files, IReadOnlyList<string> WithoutEpoch)
{
    /// <param name="disk">The directory of the environment.</param>
    /// <param name="checkpoint">The environment's header.</param>
    /// <param name="makesDurable">
    /// True to sync each file, because a killed process may have left contents visible that are not durable, and then to read it from the device.
    /// </param>
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

            var info = JournalFileHeaderReader.Read(file, entry.Name, checkpoint.EnvironmentId, out var abandoned);
            if (info?.Header.Version > checkpoint.Version)
            {
                throw new CorruptionException(
                    $"'{file.Path}' has format version {info.Header.Version}, but the header of the environment has version {checkpoint.Version}: the files are " +
                    "of different moments. Restore all files of the environment from one copy.");
            }

            if (info != null && (isNamed || !PlantedFault.ForgetUnnamedJournals))
            {
                files.Add(info);
                continue;
            }

            var first = FirstRecord(file);
            if (abandoned is not { } epoch)
            {
                if (isNamed || (first.Marker == JournalFormat.RecordMarker && !PlantedFault.ForgetUnnamedJournals))
                    throw NoHeader(file);
            }
            else if (epoch.Number >= checkpoint.ReplayStart.Epoch
                && first.Marker == JournalFormat.RecordMarker && first.Incarnation == epoch.Incarnation)
            {
                // A file is reused when its records are no longer needed, or when it never had any.
                throw new CorruptionException(
                    $"The header of '{file.Path}' is damaged: it ends epoch {epoch.Number}, " +
                    $"but replay needs the records of all epochs from {checkpoint.ReplayStart.Epoch} on.");
            }

            withoutEpoch.Add(entry.Name);
        }

        return new JournalInventory(files, withoutEpoch);
    }

    // Without the signature of a journal, a file is damaged only if it is blank: the header file shows that an environment exists.
    private static VoronException NoHeader(DiskFile file) => JournalSign.IsOn(file) || JournalSign.IsBlank(file)
        ? new CorruptionException($"Neither copy of the header of '{file.Path}' is valid: the journal file is damaged. Restore the whole directory from a backup.")
        : new UnsupportedFormatException(
            $"'{file.Path}' has the name of a journal file, but not the content of one: it begins with {JournalSign.FirstBytes(file):X16} instead of " +
            $"{JournalFormat.FileMagic:X16}. Nothing was changed. If another program has written it, move it elsewhere; otherwise restore the whole directory from a backup.");

    /// <summary>
    /// Returns whether this engine began a file under one of its names: the file has no content yet, or a header's first bytes.
    /// </summary>
    private static bool IsOurs(DiskFile file)
    {
        ulong first = 0;
        if (file.Length >= JournalFormat.Block)
            file.Read(0, new Span<byte>(&first, sizeof(ulong)));
        return file.Length == 0 || (file.Length >= JournalFormat.Block && first is 0 or JournalFormat.FileMagic);
    }

    /// <summary>Returns the bytes at the place of the first record; zeros when the file ends before it.</summary>
    private static RecordHeader FirstRecord(DiskFile file)
    {
        RecordHeader record = default;
        if (file.Length >= JournalFormat.FirstRecordOffset + JournalFormat.Block)
            file.Read(JournalFormat.FirstRecordOffset, new Span<byte>(&record, RecordHeader.Size));
        return record;
    }

    /// <summary>
    /// Returns whether the header says that the environment was closed cleanly. It still says so until the next checkpoint.
    /// </summary>
    public static bool WasClosed(in CheckpointHeader checkpoint) =>
        (checkpoint.Flags & CheckpointFlags.ClosedCleanly) != 0 && checkpoint.JournalSnapshotNumber == 0;

    /// <summary>
    /// Returns whether nothing has changed since the environment was closed cleanly: a writer begins a new epoch of a journal file before
    /// it changes anything.
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
