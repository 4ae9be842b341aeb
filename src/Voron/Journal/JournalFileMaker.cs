using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>Makes, names and deletes journal files; for the holder of the file set's lock.</summary>
/// <remarks>
/// Zeros keep small commits from having to write the file system's metadata, at the price of writing everything twice in a file's
/// first life. Large records would pay more than they save: for them a file gets its blocks, and what is in it first is theirs.
/// </remarks>
internal sealed unsafe class JournalFileMaker(IDisk disk, ILogger logger)
{
    private const int ZeroingBytes = 256 << 10;

    private long _nextIndex = 1;

    /// <summary>Gives new files numbers behind that of a file that is there.</summary>
    public void SkipName(string name)
    {
        var index = NumberOf(name);
        if (index <= JournalFile.MaxNewIndex)
            _nextIndex = Math.Max(_nextIndex, index + 1);
    }

    /// <summary>Makes a file without a name of its own yet.</summary>
    /// <param name="length">In bytes.</param>
    /// <param name="isZeroed">Else it has blocks, and what is written to it first is records.</param>
    /// <exception cref="DiskException">There is no room for it; nothing is left of it.</exception>
    public JournalFile Make(long length, bool isZeroed)
    {
        var (name, handle) = Create();
        var file = new JournalFile(disk, name, length, handle);
        try
        {
            file.Handle.Allocate(0, length);
            if (isZeroed)
                WriteZeros(file.Handle, length);
            if (!PlantedFault.LeaveJournalUnsynced)
                file.Handle.Sync();
            return file;
        }
        catch
        {
            Delete(file);
            throw;
        }
    }

    /// <summary>Gives a new file its name, when its headers are there: one that is found under such a name without them is damaged.</summary>
    public void GiveName(JournalFile file)
    {
        if (!PlantedFault.LeaveJournalUnsynced)
            file.Handle.Sync();
        var name = Rename(file.Name);
        file.Name = name;
        if (!PlantedFault.LeaveJournalNameUnsynced)
            disk.SyncDirectory();
        JournalLog.FileMade(logger, file.Name, file.Length);
    }

    /// <summary>Files that come back under the names that they had while they were made: they get names before anything is built on them.</summary>
    public List<JournalFileInfo> GiveNames(List<JournalFileInfo> files)
    {
        var isChanged = false;
        for (var i = 0; i < files.Count; i++)
        {
            if (JournalFile.UnnamedIndexOf(files[i].Name) < 0)
                continue;
            files[i] = files[i] with { Name = Rename(files[i].Name) };
            isChanged = true;
        }

        if (isChanged)
            disk.SyncDirectory();
        return files;
    }

    /// <summary>Deletes a file; one that stays is deleted, or used again, by the next opening.</summary>
    public void Delete(JournalFile file)
    {
        file.Close();
        try
        {
            disk.Delete(file.Name);
        }
        catch (DiskException)
        {
            // It was not there, or stays: the next opening deletes what has no life, and uses again what has.
        }
    }

    /// <summary>Gives a file that has none yet a name that no other file has.</summary>
    private string Rename(string unnamed)
    {
        var index = JournalFile.UnnamedIndexOf(unnamed);
        while (true)
        {
            try
            {
                var name = JournalFile.NameOf(index);
                disk.Rename(unnamed, name);
                return name;
            }
            catch (DiskException e) when (e.Error == DiskError.AlreadyExists)
            {
                index = NextIndex();
            }
        }
    }

    private (string Name, DiskFile Handle) Create()
    {
        while (true)
        {
            var name = JournalFile.UnnamedOf(NextIndex());
            try
            {
                return (name, disk.Open(name, DiskOpen.New, DiskAccess.WriteThrough));
            }
            catch (DiskException e) when (e.Error == DiskError.AlreadyExists)
            {
                // The name is taken: try the next number.
            }
        }
    }

    private static long NumberOf(string name) => Math.Max(JournalFile.IndexOf(name), JournalFile.UnnamedIndexOf(name));

    // Numbers that are taken are passed over, wherever it goes on.
    private long NextIndex()
    {
        if (_nextIndex > JournalFile.MaxNewIndex)
            _nextIndex = 1;
        return _nextIndex++;
    }

    // Blocks that have been allocated but never written cost a write of metadata at each commit to them.
    private static void WriteZeros(DiskFile handle, long length)
    {
        var zeros = (byte*)EngineMemory.AllocateAligned(ZeroingBytes, JournalFormat.Block);
        try
        {
            NativeMemory.Clear(zeros, ZeroingBytes);
            for (var offset = 0L; offset < length; offset += ZeroingBytes)
                handle.Write(offset, new ReadOnlySpan<byte>(zeros, (int)Math.Min(ZeroingBytes, length - offset)));
        }
        finally
        {
            EngineMemory.FreeAligned(zeros);
        }
    }
}
