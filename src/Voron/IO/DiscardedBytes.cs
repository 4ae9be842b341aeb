namespace Voron.IO;

/// <summary>
/// A file that keeps only its length and reads as zeros: for the journal of an environment that nothing can outlive, and that therefore never
/// reads it.
/// </summary>
internal sealed unsafe class DiscardedBytes(string path) : MemoryContent
{
    private long _length;

    public override long Length => Volatile.Read(ref _length);

    public override void Read(long offset, Span<byte> destination)
    {
        if (offset > Length - destination.Length)
            DiskRules.ThrowEndOfFile("read", path, offset, destination.Length, Length);
        destination.Clear();
    }

    public override void Write(long offset, byte* source, long length)
    {
        if (length > 0)
            EnsureLength(checked(offset + length));
    }

    public override void EnsureLength(long length)
    {
        var found = Length;
        while (found < length)
        {
            var before = Interlocked.CompareExchange(ref _length, length, found);
            if (before == found)
                return;
            found = before;
        }
    }

    public override void SetLength(long length) => Volatile.Write(ref _length, length);

    public override void Punch(long offset, long length)
    {
    }

    public override FileMap Map(long length) => throw new InvalidOperationException($"'{path}' keeps no content that could be mapped.");

    protected override void Free()
    {
    }
}
