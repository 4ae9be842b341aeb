namespace Voron.Simulation.Disks;

/// <summary>A change to the content or the length of a file that is not durable yet.</summary>
internal sealed class PendingChange
{
    /// <summary>Its index in the trace, or -1 for a change that a killed process left to the next one.</summary>
    public required int Sequence { get; init; }

    /// <summary>False while a write-through write is in progress.</summary>
    public bool Returned { get; set; }

    /// <summary>True after a sync has failed on it: no later sync makes it durable.</summary>
    public bool Stuck { get; set; }

    /// <summary>True if it bypasses the page cache: the bytes that a failed or aborted write left are on the device, or they are not.</summary>
    public bool Unbuffered { get; init; }

    /// <summary>The bytes; empty if this is a change of length.</summary>
    public IReadOnlyList<Fragment> Fragments { get; set; } = [];

    /// <summary>The new length, or -1.</summary>
    public long Length { get; init; } = -1;

    /// <summary>True if the change of length truncates the file, false if it extends the file at least to that length.</summary>
    public bool Cuts { get; init; }

    /// <summary>The range, in bytes, in which holes are to be given blocks.</summary>
    public (long Offset, long Length) Allocated { get; init; }

    public bool IsLength => Length >= 0;

    public PendingChange Clone() => (PendingChange)MemberwiseClone();

    /// <summary>
    /// Returns the remainder of the change after the process was killed: visible, and pending until a sync. A page that a failed sync left
    /// behind stays stuck in the page cache; an unbuffered write is at least in the device's cache, which a sync empties.
    /// </summary>
    public PendingChange ForNextProcess() => new()
    {
        Sequence = -1,
        Returned = true,
        Stuck = Stuck && !Unbuffered,
        Fragments = Fragments,
        Length = Length,
        Cuts = Cuts,
        Allocated = Allocated,
    };

    public void ApplyTo(BlockContent content)
    {
        foreach (var fragment in Fragments)
            content.Apply(fragment);
        content.FillHoles(Allocated.Offset, Allocated.Length);
        if (Cuts)
            content.Cut(Length);
        else if (Length > content.Length)
            content.Length = Length;
    }

    /// <summary>Removes the bytes that a newer, durable write has replaced.</summary>
    public void Subtract(IReadOnlyList<Fragment> newer)
    {
        if (Fragments.Count == 0)
            return;
        var left = new List<Fragment>(Fragments);
        foreach (var over in newer)
        {
            for (var i = left.Count - 1; i >= 0; i--)
            {
                var mine = left[i];
                if (mine.Block != over.Block || mine.End <= over.Start || over.End <= mine.Start)
                    continue;
                left.RemoveAt(i);
                if (mine.Start < over.Start)
                    left.Add(mine.Part(mine.Start, over.Start));
                if (over.End < mine.End)
                    left.Add(mine.Part(over.End, mine.End));
            }
        }
        Fragments = left;
    }
}
