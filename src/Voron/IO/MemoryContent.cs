namespace Voron.IO;

/// <summary>The content of a file of a <see cref="MemoryDisk"/>. It is freed with the file's name and its last handle and map.</summary>
internal abstract unsafe class MemoryContent
{
    // One reference for the name and one for each open handle.
    private int _references = 1;

    public abstract long Length { get; }

    public void AddReference() => Interlocked.Increment(ref _references);

    public void Release()
    {
        if (Interlocked.Decrement(ref _references) == 0)
            Free();
    }

    public abstract void Read(long offset, Span<byte> destination);

    public abstract void Write(long offset, byte* source, long length);

    public abstract void EnsureLength(long length);

    public abstract void SetLength(long length);

    public abstract void Punch(long offset, long length);

    public abstract FileMap Map(long length);

    /// <summary>Called when neither the name nor a handle is left.</summary>
    protected abstract void Free();
}
