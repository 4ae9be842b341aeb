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

    /// <summary>The ranges of the write-through writes in progress.</summary>
    public List<(long Offset, long End)> Writing { get; } = [];

    /// <summary>Notes a write-through write that begins.</summary>
    /// <exception cref="InvalidOperationException">Another one to the same bytes is in progress: the device would make them in any order.</exception>
    public void BeginWrite(long offset, long length)
    {
        foreach (var (other, end) in Writing)
        {
            if (offset < end && other < offset + length)
                throw new InvalidOperationException($"Two writes to '{Name}' overlap: {other} to {end}, and {offset} to {offset + length}.");
        }

        Writing.Add((offset, offset + length));
    }

    public void ShowInMaps(long offset, long length)
    {
        foreach (var map in Maps)
            map.Show(offset, Math.Min(length, map.Length - offset));
    }
}
