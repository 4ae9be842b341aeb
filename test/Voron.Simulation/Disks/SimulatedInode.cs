namespace Voron.Simulation.Disks;

/// <summary>A file as the process sees it.</summary>
internal sealed class SimulatedInode
{
    public required int File { get; init; }

    public required string Name { get; set; }

    public BlockContent Content { get; set; } = new();

    public List<SimulatedMap> Maps { get; } = [];

    public int Handles { get; set; }

    /// <summary>True after a sync, or a write through the cache, has failed: the cache may hold data that the medium does not.</summary>
    public bool HasStuck { get; set; }

    public void ShowInMaps(long offset, long length)
    {
        foreach (var map in Maps)
            map.Show(offset, Math.Min(length, map.Length - offset));
    }
}
