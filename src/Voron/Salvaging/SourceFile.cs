using Voron.IO;

namespace Voron.Salvaging;

/// <summary>A file that can be read everywhere. Bytes that the device cannot read, and bytes after the end of the file, are zeros.</summary>
/// <param name="file">The file; null if it is missing.</param>
/// <param name="path">Its path.</param>
/// <param name="access">How it is opened.</param>
/// <param name="minLength">Its minimum length in bytes.</param>
/// <param name="onUnreadable">Receives the offset of each block that the device cannot read, and the reason.</param>
internal sealed class SourceFile(DiskFile? file, string path, DiskAccess access, long minLength, Action<long, string> onUnreadable)
    : DiskFile(path, access)
{
    private const int Block = DiskRules.Alignment;

    public override long Length => Math.Max(file?.Length ?? 0, minLength);

    /// <summary>The actual length of the file; 0 if it is missing.</summary>
    public long FoundLength => file?.Length ?? 0;

    public override void Read(long offset, Span<byte> destination)
    {
        var found = (int)Math.Clamp(FoundLength - offset, 0, destination.Length);
        if (found == destination.Length)
        {
            ReadWhole(offset, destination);
            return;
        }

        // Unbuffered reads must cover whole blocks: those of the file are read, and the rest stays zero.
        destination.Clear();
        found &= -Block;
        if (found > 0)
            ReadWhole(offset, destination[..found]);
    }

    /// <summary>Returns an empty map: a page of a real one that the device cannot read would end the process.</summary>
    public override FileMap Map(long length) => new EmptyMap(length);

    public override void SetLength(long length) => throw ReadOnly("set length");

    public override void Allocate(long offset, long length) => throw ReadOnly("allocate");

    public override bool TryPunchHole(long offset, long length) => throw ReadOnly("punch hole");

    public override void Write(long offset, ReadOnlySpan<byte> source) => throw ReadOnly("write");

    public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks) => throw ReadOnly("write");

    public override void Sync() => throw ReadOnly("sync");

    protected override void Dispose(bool disposing) => file?.Dispose();

    private void ReadWhole(long offset, Span<byte> destination)
    {
        try
        {
            file!.Read(offset, destination);
        }
        catch (DiskException e)
        {
            if (destination.Length > Block)
            {
                ReadBlocks(offset, destination);
                return;
            }

            destination.Clear();
            onUnreadable(offset, e.Message);
        }
    }

    private void ReadBlocks(long offset, Span<byte> destination)
    {
        for (var at = 0; at < destination.Length; at += Block)
            ReadWhole(offset + at, destination[at..Math.Min(at + Block, destination.Length)]);
    }

    private DiskException ReadOnly(string operation) => new(DiskError.AccessDenied, operation, Path, "a salvage never changes its source");

    private sealed class EmptyMap : FileMap
    {
        public EmptyMap(long length) => Length = length;

        public override bool TryExtend(long length) => false;

        public override void Shrink(long length) => Length = length;

        protected override void Dispose(bool disposing)
        {
        }
    }
}
