using Voron.Format;
using Voron.IO;
using Voron.Journal;

namespace Voron.Recovery;

/// <summary>Reads the journal snapshot that a checkpoint names.</summary>
internal static unsafe class JournalSnapshotReader
{
    /// <summary>Visits the records of the file that a checkpoint names.</summary>
    /// <exception cref="CorruptionException">The file is missing or damaged.</exception>
    public static void Read(IDisk disk, RandomId environmentId, in CheckpointHeader checkpoint, IRecordVisitor visitor, BlockMemory memory)
    {
        var name = JournalSnapshotFile.NameOf(checkpoint.JournalSnapshotNumber);
        var header = new JournalFileHeader { Incarnation = checkpoint.JournalSnapshotIncarnation };
        var info = new JournalFileInfo(name, checkpoint.JournalSnapshotLength, header, [], HasBothHeaders: true);
        using var window = new RecordWindow(memory);
        var reader = new JournalFileReader(disk, info, environmentId, window);
        try
        {
            CheckLength(reader, checkpoint, disk);
            var sequence = 0L;
            for (var offset = 0L; offset < checkpoint.JournalSnapshotLength;)
            {
                var record = reader.TryRead(offset);
                if (record == null || record->Kind != RecordKind.JournalSnapshot || record->Sequence != ++sequence)
                {
                    throw new CorruptionException(
                        $"'{reader.Path}' is damaged at offset {offset} of {checkpoint.JournalSnapshotLength}: it has no valid record {sequence} there.");
                }

                RecordPayload.CheckHeader(record, reader.Path);
                visitor.Visit(record, reader.Path);
                offset += record->AlignedLength;
            }
        }
        finally
        {
            reader.Close();
        }
    }

    private static void CheckLength(JournalFileReader reader, in CheckpointHeader checkpoint, IDisk disk)
    {
        long bytes;
        try
        {
            bytes = reader.CountBytes();
        }
        catch (DiskException e) when (e.Error == DiskError.NotFound)
        {
            throw new CorruptionException(
                $"The header names '{reader.Info.Name}', which is missing from '{disk.Path}'. Restore all files of the environment from one copy.", e);
        }

        if (bytes < checkpoint.JournalSnapshotLength)
        {
            throw new CorruptionException(
                $"'{reader.Path}' has been cut short: it has {bytes} bytes, but the header expects {checkpoint.JournalSnapshotLength}.");
        }
    }
}
