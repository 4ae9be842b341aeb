using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Shrinks the journal of an environment that is being closed.</summary>
/// <remarks>
/// <code>
///   everything flushed, checkpoint durable ─▶ released files deleted ─▶ small file durable ─▶ both slots of the header name its start ─▶
///   all other files deleted
/// </code>
/// Until the header names the small file, it is like a spare: a file of a later epoch without records, and the header still refers to the end of
/// the current file. Afterwards, the other files have earlier epochs, and no header refers to them, so a power cut that brings some of them back
/// changes nothing.
/// </remarks>
internal static class JournalShrinking
{
    /// <summary>Begins a small file if the current one is large. Returns the position that the header of the closed environment names.</summary>
    /// <param name="engine">The environment.</param>
    /// <param name="files">Its journal files.</param>
    /// <param name="end">The end of the journal.</param>
    /// <returns>The start of the small file, with the sequence of the last record; the end itself if there is no small file.</returns>
    public static JournalPosition Begin(EngineCore engine, JournalFileSet files, in JournalPosition end)
    {
        try
        {
            if (files.TryBeginLast() is { } file)
            {
                return end with
                {
                    Incarnation = file.Incarnation,
                    Epoch = file.Epoch,
                    Offset = file.StartOffset,
                };
            }
        }
        catch (Exception e) when (e is DiskException or OutOfMemoryException)
        {
            // The current file stays, and the environment is closed as cleanly.
            FlushLog.JournalStaysLarge(engine.Logger, engine.Disk.Path, e.Message);
        }

        return end;
    }
}
