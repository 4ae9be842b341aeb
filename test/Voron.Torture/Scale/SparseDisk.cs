using System.Collections;
using Voron.IO;

namespace Voron.Torture.Scale;

/// <summary>
/// A disk in memory that keeps no zeros: a store of a hundred gigabytes, most of it values of zeros, takes the memory of its other
/// pages. Reads of what was never anything else touch nothing.
/// </summary>
internal sealed class SparseDisk : IDisk
{
    private const int Block = 4096;

    // Also under the name that it has while it is being made.
    private const string DataFile = "voron.data";

    private readonly MemoryDisk _disk;
    private readonly BitArray _hasContent;

    /// <param name="mostBytes">Of the data file.</param>
    public SparseDisk(long mostBytes)
    {
        _disk = new MemoryDisk(mostBytes);
        _hasContent = new BitArray(checked((int)(mostBytes / Block)));
    }

    /// <summary>Every change fails from now on, as if the process had lost its disk: what is there then is what a kill would leave.</summary>
    public bool IsCut { get; set; }

    public string Path => "sparse";

    public int Alignment => _disk.Alignment;

    public bool IsReadOnly => false;

    public bool IsUnbuffered => true;

    public IReadOnlyList<DiskEntry> List() => _disk.List();

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        ThrowIfCut("open");
        return new SparseFile(this, _disk.Open(name, open, access), name.StartsWith(DataFile, StringComparison.Ordinal));
    }

    public DiskFile OpenTemporary() => DiskRules.OpenTemporaryByName(this);

    public void Rename(string source, string target)
    {
        ThrowIfCut("rename");
        _disk.Rename(source, target);
    }

    public void Delete(string name)
    {
        ThrowIfCut("delete");
        _disk.Delete(name);
    }

    public void SyncDirectory() => ThrowIfCut("sync");

    public IDisposable Lock(string name, bool shared) => _disk.Lock(name, shared);

    /// <summary>Keeps its files, to be opened again.</summary>
    public void Dispose()
    {
    }

    /// <summary>Gives the memory of its files back.</summary>
    public void Release() => _disk.Dispose();

    private void ThrowIfCut(string operation)
    {
        if (IsCut)
            throw new DiskException(DiskError.Failed, operation, Path, "the disk is gone");
    }

    private unsafe sealed class SparseFile(SparseDisk disk, DiskFile file, bool isData) : DiskFile(file.Path, file.Access)
    {
        public override long Length => file.Length;

        public override void SetLength(long length)
        {
            disk.ThrowIfCut("set length");
            file.SetLength(length);
        }

        public override void Allocate(long offset, long length)
        {
            disk.ThrowIfCut("allocate");
            file.Allocate(offset, length);
        }

        public override bool TryPunchHole(long offset, long length)
        {
            disk.ThrowIfCut("punch hole");
            return file.TryPunchHole(offset, length);
        }

        public override void Read(long offset, Span<byte> destination)
        {
            if (isData && offset + destination.Length <= file.Length && IsZero(offset, destination.Length))
                destination.Clear();
            else
                file.Read(offset, destination);
        }

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            disk.ThrowIfCut("write");
            if (!isData)
            {
                file.Write(offset, source);
                return;
            }

            while (source.Length > 0)
            {
                int length = (int)Math.Min(source.Length, Block - (offset % Block));
                WriteBlock(offset, source[..length]);
                offset += length;
                source = source[length..];
            }
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            foreach (ref readonly IoBlock block in blocks)
            {
                Write(offset, new ReadOnlySpan<byte>(block.Address, checked((int)block.Length)));
                offset += (long)block.Length;
            }
        }

        public override void Sync() => disk.ThrowIfCut("sync");

        public override FileMap Map(long length) => file.Map(length);

        protected override void Dispose(bool disposing) => file.Dispose();

        private void WriteBlock(long offset, ReadOnlySpan<byte> source)
        {
            int block = (int)(offset / Block);
            if (!disk._hasContent[block] && source.IndexOfAnyExcept((byte)0) < 0)
            {
                if (offset + source.Length > file.Length)
                    file.Allocate(offset, source.Length);
                return;
            }

            disk._hasContent[block] = true;
            file.Write(offset, source);
        }

        private bool IsZero(long offset, int length)
        {
            for (long block = offset / Block; block <= (offset + length - 1) / Block; block++)
            {
                if (disk._hasContent[(int)block])
                    return false;
            }
            return true;
        }
    }
}
