using Voron.Format;

namespace Voron.IO;

/// <summary>Files whose names alone do not prove that they belong to the engine, and that do no harm if they stay.</summary>
internal static unsafe class OwnFile
{
    /// <summary>
    /// Returns whether this engine began a file under one of its names: the file has no content yet, or begins with a marker.
    /// </summary>
    public static bool IsBegun(IDisk disk, string name, ulong marker)
    {
        try
        {
            using var file = disk.Open(name, DiskOpen.Existing, DiskAccess.WriteThrough);
            ulong first = 0;
            if (file.Length >= JournalFormat.Block)
                file.Read(0, new Span<byte>(&first, sizeof(ulong)));
            return file.Length == 0 || (file.Length >= JournalFormat.Block && (first == 0 || first == marker));
        }
        catch (DiskException)
        {
            return false;
        }
    }

    /// <summary>Deletes a file. One that does not exist, or cannot be deleted, is left to the next attempt.</summary>
    public static void TryDelete(IDisk disk, string name)
    {
        try
        {
            disk.Delete(name);
        }
        catch (DiskException)
        {
            // As above.
        }
    }
}
