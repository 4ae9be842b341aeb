using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Creates, names and deletes journal files; for the holder of the file set's lock.</summary>
/// <remarks>
/// The first write to a block also writes the file system's metadata, which a synchronous write waits for. Zeroing a file in advance saves that, but
/// writes everything twice in the file's first epoch, with writes for which commits wait. It pays for records of some blocks: large ones would take
/// longer to zero than it saves, and small ones write the zeros themselves (<see cref="RecordBatchWriter"/>).
/// </remarks>
internal sealed unsafe class JournalFileMaker(IDisk disk, ILogger logger)
{
    private const int ZeroingBytes = 256 << 10;

    private long _nextIndex = 1;
    private bool _deletionsAreDurable;

    /// <summary>Makes new files use numbers above that of an existing file.</summary>
    public void SkipName(string name)
    {
        var index = NumberOf(name);
        if (index <= JournalFile.MaxNewIndex)
            _nextIndex = Math.Max(_nextIndex, index + 1);
    }

    /// <summary>Creates a file that does not have its final name yet.</summary>
    /// <param name="length">In bytes.</param>
    /// <param name="isZeroed">True to zero the file; otherwise it only has blocks, and the first data written to it is records.</param>
    /// <exception cref="DiskException">There is not enough space for it; nothing is left of it.</exception>
    public JournalFile Make(long length, bool isZeroed)
    {
        var (name, handle) = Create();
        return Make(name, handle, length, isZeroed);
    }

    /// <summary>
    /// Creates a file that vanishes when it is closed before <see cref="TryGiveFirstName"/>. Until then, the directory does not change. No commit
    /// waits for the zeros that the first small record would write: a file of that length is zeroed.
    /// </summary>
    /// <param name="length">In bytes.</param>
    /// <exception cref="DiskException">It cannot be made; nothing is left of it.</exception>
    public JournalFile MakeUnnamed(long length) => Make("", disk.OpenUnnamed(), length, isZeroed: length <= RecordBatchWriter.AheadBytes);

    /// <summary>
    /// Gives a new file its final name once its headers are written: a file that is found under such a name without them is damaged. Its length was
    /// synced before them, and they were durable when they had been written, so only the name must be made durable.
    /// </summary>
    public void GiveName(JournalFile file)
    {
        file.Name = Rename(file.Name);
        MakeNameDurable(file);
    }

    /// <summary>Does the same for a file that has no name at all. Returns false where the system cannot name it, which has changed nothing.</summary>
    /// <exception cref="DiskException">The name may not be durable.</exception>
    public bool TryGiveFirstName(JournalFile file)
    {
        try
        {
            file.Name = Link(file.Handle);
        }
        catch (DiskException)
        {
            // The caller makes a file with a name, or reports why that fails.
            return false;
        }

        MakeNameDurable(file);
        return true;
    }

    /// <summary>Gives final names to files found under their provisional names, before anything is built on them.</summary>
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

    /// <summary>Makes the deletions of an earlier process durable, unless they are, before a released file is used again.</summary>
    /// <remarks>
    /// The file that an earlier process deleted last may have had the highest epoch number. Until the directory has been synced, a power cut can
    /// restore it, and no file with records may have that number then. A new file contains no records before its name is durable, and with it the
    /// deletions; a reused file already has its name.
    /// </remarks>
    public void MakeDeletionsDurable()
    {
        if (_deletionsAreDurable)
            return;
        disk.SyncDirectory();
        _deletionsAreDurable = true;
    }

    /// <summary>Deletes a file; if it remains, the next opening deletes or reuses it.</summary>
    public void Delete(JournalFile file)
    {
        file.Close();
        if (file.Name.Length == 0)
            return;
        try
        {
            disk.Delete(file.Name);
        }
        catch (DiskException)
        {
            // The file did not exist, or it remains: the next opening deletes files without an epoch and reuses files with one.
        }
    }

    private JournalFile Make(string name, DiskFile handle, long length, bool isZeroed)
    {
        var isWritten = isZeroed || disk.IsVolatile;
        var file = new JournalFile(disk, name, length, handle) { WrittenBytes = isWritten ? length : JournalFormat.FirstRecordOffset };
        try
        {
            file.Handle.Allocate(0, length);
            if (isZeroed && !disk.IsVolatile)
                WriteZeros(file.Handle, length);
            file.Handle.Sync();
            return file;
        }
        catch
        {
            Delete(file);
            throw;
        }
    }

    /// <summary>Gives a file that has no final name yet a name that no other file has.</summary>
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

    private string Link(DiskFile file)
    {
        while (true)
        {
            var name = JournalFile.NameOf(NextIndex());
            try
            {
                disk.Link(file, name);
                return name;
            }
            catch (DiskException e) when (e.Error == DiskError.AlreadyExists)
            {
                // The name is taken: try the next number.
            }
        }
    }

    private void MakeNameDurable(JournalFile file)
    {
        disk.SyncDirectory();
        _deletionsAreDurable = true;
        JournalLog.FileMade(logger, file.Name, file.Length);
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

    // Callers skip numbers that are in use, wherever the count continues.
    private long NextIndex()
    {
        if (_nextIndex > JournalFile.MaxNewIndex)
            _nextIndex = 1;
        return _nextIndex++;
    }

    // Blocks that are allocated but never written cost a metadata write at each commit to them.
    private static void WriteZeros(DiskFile handle, long length)
    {
        var step = (int)Math.Min(ZeroingBytes, length);
        var zeros = (byte*)EngineMemory.AllocateAligned((nuint)step, JournalFormat.Block);
        try
        {
            NativeMemory.Clear(zeros, (nuint)step);
            for (var offset = 0L; offset < length; offset += step)
                handle.Write(offset, new ReadOnlySpan<byte>(zeros, (int)Math.Min(step, length - offset)));
        }
        finally
        {
            EngineMemory.FreeAligned(zeros);
        }
    }
}
