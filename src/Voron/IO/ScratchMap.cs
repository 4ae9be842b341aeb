namespace Voron.IO;

/// <summary>Writable memory that is backed by a temporary file where the disk supports it.</summary>
internal abstract unsafe class ScratchMap : IDisposable
{
    public byte* Address { get; protected init; }

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}
