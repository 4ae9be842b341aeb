namespace Voron.Simulation.Disks;

/// <summary>A file as the medium has it, and the changes that are still on their way there, oldest first.</summary>
internal sealed class DurableFile
{
    public BlockContent Content { get; init; } = new();

    public List<PendingChange> Pending { get; init; } = [];

    public DurableFile Clone()
    {
        // A walk marks and trims changes as it advances, so each walk needs its own copies.
        var pending = Pending.ConvertAll(change => change.Clone());
        return new DurableFile { Content = Content.Clone(), Pending = pending };
    }
}
