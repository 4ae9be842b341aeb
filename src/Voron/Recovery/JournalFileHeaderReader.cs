using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>The epoch of a journal file that had ended when a new one was about to begin.</summary>
internal readonly record struct AbandonedEpoch(long Number, RandomId Incarnation);

/// <summary>Reads the two copies of a journal file's header, and judges which epoch they belong to.</summary>
internal static unsafe class JournalFileHeaderReader
{
    /// <summary>
    /// Reads the header of a journal file. Returns null if the file's epoch has not begun: it has no valid copy, or two that differ.
    /// </summary>
    /// <param name="abandoned">The file's epoch before the one that has not begun; null if no copy is valid.</param>
    /// <param name="acceptsCut">True to read a file that is shorter than when it was created.</param>
    /// <exception cref="CorruptionException">
    /// The file is shorter than when it was created, or its copies cannot belong to the epochs that they name.
    /// </exception>
    /// <exception cref="UnsupportedFormatException">The file has a newer version, or belongs to another environment.</exception>
    public static JournalFileInfo? Read(
        DiskFile file, string name, RandomId environmentId, out AbandonedEpoch? abandoned, bool acceptsCut = false)
    {
        abandoned = null;
        var length = file.Length;
        if (length < JournalFormat.FirstRecordOffset)
            return null;

        var blocks = (byte*)EngineMemory.AllocateAligned(JournalFormat.FirstRecordOffset, JournalFormat.Block);
        try
        {
            file.Read(0, new Span<byte>(blocks, JournalFormat.FirstRecordOffset));
            var first = IsValid(blocks) ? (JournalFileHeader*)blocks : null;
            var second = IsValid(blocks + JournalFormat.Block) ? (JournalFileHeader*)(blocks + JournalFormat.Block) : null;
            if (first == null && second == null)
                return null;
            if (PlantedFault.BelieveJournalHeaders && first != null && second != null && first->Incarnation != second->Incarnation)
            {
                abandoned = new AbandonedEpoch(0, default);
                return null;
            }

            if (first != null)
                Check(first, file.Path, environmentId);
            if (second != null)
                Check(second, file.Path, environmentId);
            if (first != null && second != null && first->Incarnation != second->Incarnation)
            {
                // The first copy is durable before the second is written, so it can only be ahead.
                abandoned = new AbandonedEpoch(second->Epoch, second->Incarnation);
                return first->Epoch > second->Epoch
                    ? null
                    : throw new CorruptionException(
                        $"The header of '{file.Path}' is damaged: its copies name different epochs, {first->Epoch} and {second->Epoch}.");
            }

            var header = first != null ? first : second;

            // All blocks of a file are allocated before its header is written, and the file is never shortened.
            if (length < header->FileLength && !acceptsCut && !PlantedFault.BelieveCutJournals)
                throw new CorruptionException($"'{file.Path}' has been cut short: it has {length} bytes, but was created with {header->FileLength}.");

            var seals = new ReadOnlySpan<JournalSeal>((byte*)header + JournalFileHeader.Size, (int)header->SealCount).ToArray();
            return new JournalFileInfo(name, length, *header, seals, first != null && second != null);
        }
        finally
        {
            EngineMemory.FreeAligned(blocks);
        }
    }

    /// <summary>Returns the intact copies of the header, of any environment and version.</summary>
    public static IReadOnlyList<JournalFileHeader> Peek(DiskFile file)
    {
        var found = new List<JournalFileHeader>();
        var block = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
        try
        {
            var end = Math.Min(JournalFormat.FirstRecordOffset, file.Length & -JournalFormat.Block);
            for (var offset = 0L; offset < end; offset += JournalFormat.Block)
            {
                file.Read(offset, new Span<byte>(block, JournalFormat.Block));
                if (IsValid(block))
                    found.Add(*(JournalFileHeader*)block);
            }
        }
        finally
        {
            EngineMemory.FreeAligned(block);
        }

        return found;
    }

    private static void Check(JournalFileHeader* header, string path, RandomId environmentId)
    {
        if (!JournalFormat.IsKnown(header->Version))
        {
            throw new UnsupportedFormatException(
                $"'{path}' has format version {header->Version}, but this program knows only {JournalFormat.KnownVersions}.");
        }

        if (header->EnvironmentId != environmentId)
        {
            throw new UnsupportedFormatException(
                $"'{path}' belongs to environment {header->EnvironmentId}, not to {environmentId}.");
        }

        if (!StateStructure.IsNumber(header->Epoch) || header->Epoch == 0)
            throw new CorruptionException($"The header of '{path}' has a valid checksum, but its epoch is {header->Epoch}, which no journal file can have. Restore the whole directory from a backup.");
    }

    private static bool IsValid(byte* block)
    {
        var header = (JournalFileHeader*)block;
        return header->Magic == JournalFormat.FileMagic && header->SealCount <= JournalFileHeader.MaxSeals
            && header->Checksum == JournalFileHeader.ComputeChecksum(block);
    }
}
