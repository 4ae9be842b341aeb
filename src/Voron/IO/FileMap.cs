namespace Voron.IO;

/// <summary>A read-only view of the first bytes of a file. It shows writes through the file.</summary>
internal abstract unsafe class FileMap : IDisposable
{
    /// <summary>The address of the file's first byte; it does not change during the map's lifetime.</summary>
    public byte* Address { get; protected set; }

    /// <summary>The number of mapped bytes; never more than the file contains.</summary>
    public long Length { get; protected set; }

    /// <summary>Maps more of the file at the same address. Returns false when there is no space after the map: a new map is needed then.</summary>
    public abstract bool TryExtend(long length);

    /// <summary>Removes the tail from the map before the file is truncated. The caller has ensured that the tail is not in use.</summary>
    public abstract void Shrink(long length);

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}
