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

/// <summary>Plain memory in place of a map. Where the system pages memory out on its own, the effect is the same.</summary>
internal sealed unsafe class MemoryScratchMap : ScratchMap
{
    private readonly AddressSpace _space;

    public MemoryScratchMap(long length)
    {
        _space = AddressSpace.Reserve((nuint)length);
        try
        {
            _space.EnsureCommitted((nuint)length);
        }
        catch
        {
            _space.Dispose();
            throw;
        }

        Address = _space.Address;
    }

    protected override void Dispose(bool disposing) => _space.Dispose();
}
