using Voron.Testing;

namespace Voron.IO;

/// <summary>
/// The parts that the files of all operating systems share: complete transfers made of partial ones, reads of any alignment from
/// unbuffered files, and allocation by writing where the system has no call for it.
/// </summary>
internal abstract unsafe class SystemFile : DiskFile
{
    /// <summary>In bytes: the chunk size of unaligned reads and of allocations by writing.</summary>
    private const int BounceLength = 64 * 1024;

    /// <summary>In bytes: no single call transfers more, because some systems refuse more than 2 GiB.</summary>
    protected const int MaxTransfer = 1 << 30;

    protected SystemFile(string path, DiskAccess access, bool readOnly)
        : base(path, access)
    {
        IsReadOnly = readOnly;
    }

    protected bool IsReadOnly { get; }

    /// <summary>True while the system itself requires aligned transfers (write-through, and no fallback).</summary>
    protected abstract bool NeedsAlignment { get; }

    /// <summary>Reads at least one byte, or returns 0 at the end of the file.</summary>
    protected abstract nint ReadSome(long offset, byte* destination, nint length);

    /// <summary>Writes at least one byte.</summary>
    protected abstract nint WriteSome(long offset, byte* source, nint length);

    /// <summary>Called after the last system call of a write, for systems where a write-through write needs another call to be durable.</summary>
    protected virtual void FinishWrite()
    {
    }

    public sealed override void Read(long offset, Span<byte> destination)
    {
        DiskRules.CheckRead(offset);
        fixed (byte* start = destination)
        {
            var at = offset;
            var to = start;
            nint left = destination.Length;
            while (left > 0)
            {
                var read = NeedsAlignment && !DiskRules.IsAligned(at, to, left)
                    ? ReadBounced(at, to, left)
                    : ReadSome(at, to, Math.Min(left, MaxTransfer));
                if (read == 0)
                    DiskRules.ThrowEndOfFile("read", Path, offset, destination.Length, Length);
                at += read;
                to += read;
                left -= read;
            }
        }
    }

    public sealed override void Write(long offset, ReadOnlySpan<byte> source)
    {
        fixed (byte* start = source)
        {
            DiskRules.CheckWrite(Access, offset, start, source.Length);
            DiskRules.CheckWritable(IsReadOnly, "write", Path);
            WriteAll(offset, start, source.Length);
        }
        FinishWrite();
    }

    protected void WriteAll(long offset, byte* source, long length)
    {
        while (length > 0)
        {
            var written = WriteSome(offset, source, (nint)Math.Min(length, MaxTransfer));
            offset += written;
            source += written;
            length -= PlantedFault.StopAtPartialWrite ? length : written;
        }
    }

    /// <summary>
    /// Allocates by writing: existing bytes are written back, new bytes are written as zeros. Slow, and not atomic with respect to a
    /// concurrent write to the same range; the fallback for file systems that have no call for it.
    /// </summary>
    protected void AllocateByWriting(long offset, long length)
    {
        var oldLength = Length;
        var end = Math.Max(oldLength, checked(offset + length));
        var buffer = (byte*)EngineMemory.AllocateAligned(BounceLength, DiskRules.Alignment);
        try
        {
            for (var at = offset / DiskRules.Alignment * DiskRules.Alignment; at < offset + length; at += BounceLength)
            {
                var wanted = DiskRules.RoundUp(offset + length - at, DiskRules.Alignment);
                var chunk = new Span<byte>(buffer, (int)Math.Min(BounceLength, wanted));
                chunk.Clear();
                if (at < oldLength)
                    Read(at, chunk[..(int)Math.Min(chunk.Length, oldLength - at)]);
                WriteAll(at, buffer, chunk.Length);
            }
        }
        finally
        {
            EngineMemory.FreeAligned(buffer);
        }

        // Whole blocks were written, so the file may be longer than requested.
        if (Length != end)
            SetLength(end);
        FinishWrite();
    }

    private nint ReadBounced(long offset, byte* destination, nint length)
    {
        var skip = (int)(offset % DiskRules.Alignment);
        var wanted = (int)Math.Min(BounceLength, DiskRules.RoundUp(skip + (long)length, DiskRules.Alignment));
        var buffer = (byte*)EngineMemory.AllocateAligned(BounceLength, DiskRules.Alignment);
        try
        {
            var read = ReadSome(offset - skip, buffer, wanted);
            var useful = Math.Min(read - skip, length);
            if (useful <= 0)
                return 0;
            new ReadOnlySpan<byte>(buffer + skip, (int)useful).CopyTo(new Span<byte>(destination, (int)useful));
            return useful;
        }
        finally
        {
            EngineMemory.FreeAligned(buffer);
        }
    }
}
