using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Begins the epochs of journal files, each with the next number; for the holder of the file set's lock.</summary>
internal sealed class JournalEpochs(RandomId environmentId, int pageSize)
{
    /// <summary>The number of the next epoch. Recovery expects the first epoch of an environment, so no number is skipped without need.</summary>
    public long Next { get; private set; } = 1;

    /// <summary>The format of new files.</summary>
    public EnvironmentFormat Format { get; set; } = new();

    /// <summary>Makes new epochs use numbers above that of an existing one.</summary>
    public void SkipTo(long epoch) => Next = Math.Max(Next, epoch + 1);

    /// <summary>Begins the next epoch of a file: writes its header.</summary>
    /// <param name="file">The file, all of whose blocks are allocated.</param>
    /// <param name="seals">The seals for earlier files.</param>
    /// <param name="isNew">True if the file has not been used before.</param>
    /// <exception cref="DiskException">The header could not be written.</exception>
    public void Begin(JournalFile file, ReadOnlySpan<JournalSeal> seals, bool isNew)
    {
        var epoch = Next++;
        Write(file, epoch, seals, isNew);
    }

    /// <summary>
    /// Writes the header of the next epoch to a file without a name. The epoch begins with the name, and its number belongs to the first file that
    /// gets one.
    /// </summary>
    /// <inheritdoc cref="Begin"/>
    public void Prepare(JournalFile file, ReadOnlySpan<JournalSeal> seals) => Write(file, Next, seals, isNew: true);

    private void Write(JournalFile file, long epoch, ReadOnlySpan<JournalSeal> seals, bool isNew)
    {
        file.HasBothHeaders = false;
        file.Epoch = epoch;
        file.Incarnation = RandomId.New();
        file.Version = Format.Version;
        var header = new JournalFileHeader
        {
            Magic = JournalFormat.FileMagic,
            Version = file.Version,
            PageSize = (uint)pageSize,
            EnvironmentId = environmentId,
            Incarnation = file.Incarnation,
            Epoch = file.Epoch,
            FileLength = file.Length,
            Lineage = file.Version == JournalFormat.Version1 ? default : Format.Lineage,
        };
        JournalFileHeaders.Write(file.Handle, header, seals, isNew);
        file.HasBothHeaders = true;
    }
}
