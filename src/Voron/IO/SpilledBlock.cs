namespace Voron.IO;

/// <summary>A block of memory over a separate temporary file, which has blocks for all of it.</summary>
internal sealed unsafe class SpilledBlock : IDisposable
{
    private readonly DiskFile _file;
    private readonly ScratchMap _map;

    /// <exception cref="DiskException">The file cannot be created, or there is not enough space for it.</exception>
    public SpilledBlock(TemporaryFiles files, long bytes)
    {
        _file = files.Open();
        try
        {
            // Without allocated blocks, a write to the map would end the process when the disk is full.
            _file.Allocate(0, bytes);
            _map = _file.MapScratch(0, bytes);
        }
        catch
        {
            _file.Dispose();
            throw;
        }
    }

    /// <summary>The first byte, at a multiple of the system's memory page.</summary>
    public byte* Address => _map.Address;

    public void Dispose()
    {
        _map.Dispose();
        _file.Dispose();
    }
}
