using Voron.IO;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Prepares the next journal file before a commit needs it.</summary>
internal static class SpareJournalFiles
{
    /// <summary>
    /// Prepares a file when there is none and the current one is filling up. Must be called often enough that a flush does not delay the
    /// next file.
    /// </summary>
    public static void Prepare(Engine engine)
    {
        if (!engine.Journal!.HasBegun || !engine.JournalFiles!.WantsSpare)
            return;
        SchedulePoint.Reach(SchedulePlace.FilePreparing);
        try
        {
            engine.JournalFiles.PrepareSpare();
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            // The commit that needs the file will report it.
            FlushLog.NoSpare(engine.Logger, engine.Disk.Path, e.Message);
        }
    }
}
