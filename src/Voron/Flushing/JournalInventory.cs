using Voron.Format;
using Voron.IO;
using Voron.Journal;

namespace Voron.Flushing;

/// <summary>The journal files of a directory, as their headers tell.</summary>
/// <param name="Files">Those that have a life.</param>
/// <param name="WithoutLife">Those that have none: unfinished, to be deleted.</param>
internal sealed record JournalInventory(IReadOnlyList<JournalFileInfo> Files, IReadOnlyList<string> WithoutLife)
{
    /// <exception cref="CorruptionException">The header of a file is damaged.</exception>
    public static JournalInventory Read(IDisk disk, UInt128 environmentId)
    {
        var files = new List<JournalFileInfo>();
        var withoutLife = new List<string>();
        foreach (var entry in disk.List())
        {
            if (JournalFile.IndexOf(entry.Name) < 0)
            {
                if (entry.Name.StartsWith(JournalFile.NamePrefix, StringComparison.Ordinal))
                    withoutLife.Add(entry.Name);
                continue;
            }

            using var file = disk.Open(entry.Name, DiskOpen.Existing, DiskAccess.WriteThrough);
            var info = JournalFileHeaders.Read(file, entry.Name, environmentId, out var damaged);
            if (info != null)
            {
                files.Add(info);
            }
            else if (damaged)
            {
                throw new CorruptionException($"Neither copy of the header of '{file.Path}' is valid: a journal file is damaged.");
            }
            else
            {
                withoutLife.Add(entry.Name);
            }
        }

        return new JournalInventory(files, withoutLife);
    }

    /// <summary>
    /// Whether nobody has changed anything since the environment was closed in good order. Whoever changes something begins a life of
    /// a journal file first, and the header goes on to say that the environment was closed until the next checkpoint.
    /// </summary>
    public bool IsUntouchedSince(in CheckpointHeader checkpoint)
    {
        if ((checkpoint.Flags & CheckpointFlags.ClosedCleanly) == 0 || checkpoint.RewriteNumber != 0 || WithoutLife.Count > 0)
            return false;
        foreach (var file in Files)
        {
            if (file.Header.LifeNumber > checkpoint.ReplayStart.LifeNumber)
                return false;
        }

        return true;
    }
}
