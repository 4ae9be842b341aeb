namespace Voron.IO;

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
