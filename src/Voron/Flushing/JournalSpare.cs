using Voron.IO;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Has the next journal file ready before a commit needs it.</summary>
internal static class JournalSpare
{
    /// <summary>Prepares a file when there is none. To be called often enough that a flush does not keep the next file waiting.</summary>
    public static void Prepare(Engine context)
    {
        if (!context.Journal!.HasBegun || context.JournalFiles!.HasSpare)
            return;
        SchedulePoint.Reach(SchedulePlace.FilePreparing);
        try
        {
            context.JournalFiles.PrepareSpare();
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            // The commit that needs it will say so.
            FlushLog.NoSpare(context.Logger, e.Message);
        }
    }
}
