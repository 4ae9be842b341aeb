namespace Voron.Torture.Simulation;

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
            for (int i = left.Count - 1; i >= 0; i--)
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

/// <summary>A change of names that is not durable yet.</summary>
internal sealed record PendingName(int Sequence, TraceKind Kind, string Name, string Target, int File)
{
    public void ApplyTo(Dictionary<string, int> directory)
    {
        switch (Kind)
        {
            case TraceKind.Create:
                directory[Name] = File;
                break;
            case TraceKind.Rename:
                // A file has one name: an older name whose own renaming was lost is removed too.
                foreach (var (name, _) in directory.Where(pair => pair.Value == File).ToList())
                    directory.Remove(name);
                directory[Target] = File;
                break;
            case TraceKind.Delete:
                if (directory.TryGetValue(Name, out int deleted) && deleted == File)
                    directory.Remove(Name);
                break;
        }
    }
}

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

/// <summary>The durable state, which survives a power cut, and the pending changes, which may survive it or be lost.</summary>
internal sealed class DurableState
{
    public Dictionary<int, DurableFile> Files { get; init; } = [];

    public Dictionary<string, int> Names { get; init; } = new(StringComparer.Ordinal);

    public List<PendingName> PendingNames { get; init; } = [];

    public DurableState Clone()
    {
        var files = new Dictionary<int, DurableFile>(Files.Count);
        foreach (var (id, file) in Files)
            files.Add(id, file.Clone());
        return new DurableState
        {
            Files = files,
            Names = new Dictionary<string, int>(Names, StringComparer.Ordinal),
            PendingNames = [.. PendingNames],
        };
    }

    public DurableFile FileOf(int id)
    {
        if (!Files.TryGetValue(id, out var file))
            Files.Add(id, file = new DurableFile());
        return file;
    }

    /// <summary>Moves the state forward over one entry of the trace.</summary>
    public void Advance(int index, TraceEntry entry)
    {
        switch (entry.Kind)
        {
            case TraceKind.Create or TraceKind.Rename or TraceKind.Delete:
                PendingNames.Add(new PendingName(index, entry.Kind, entry.Name, entry.Target, entry.File));
                break;
            case TraceKind.DirectorySyncEnd:
                MakeNamesDurable(entry.Begin);
                break;
            case TraceKind.Write or TraceKind.Punch or TraceKind.WriteFailed:
                AddBytes(index, entry);
                break;
            case TraceKind.WriteEnd:
                MakeWriteDurable(FileOf(entry.File), entry.Begin);
                break;
            case TraceKind.SetLength or TraceKind.Allocate:
                AddLength(index, entry);
                break;
            case TraceKind.SyncEnd:
                MakeFileDurable(FileOf(entry.File), entry.Begin);
                break;
            case TraceKind.SyncFailed:
                foreach (var change in FileOf(entry.File).Pending)
                    change.Stuck |= !change.IsLength;
                break;
            case TraceKind.SyncDropped:
                FileOf(entry.File).Pending.RemoveAll(change => change is { IsLength: false, Returned: true });
                break;
            case TraceKind.Rot:
                Rot(FileOf(entry.File), entry);
                break;
            case TraceKind.Sync or TraceKind.DirectorySync or TraceKind.Mark:
                break;
            default:
                throw new InvalidOperationException($"Unknown entry {entry.Kind}.");
        }
    }

    private void AddBytes(int index, TraceEntry entry)
    {
        var file = FileOf(entry.File);
        file.Pending.Add(new PendingChange
        {
            Sequence = index,
            Returned = !entry.WriteThrough || entry.Kind != TraceKind.Write,
            Stuck = entry.Kind == TraceKind.WriteFailed,
            Unbuffered = entry.WriteThrough && !entry.IsCached,
            Fragments = entry.Fragments,
        });

        // The length is a change of its own, even with a write-through write: only a sync is trusted to make it durable.
        if (entry.LengthAfter > entry.LengthBefore)
            file.Pending.Add(new PendingChange { Sequence = index, Returned = true, Length = entry.LengthAfter });
    }

    private void AddLength(int index, TraceEntry entry)
    {
        bool allocates = entry.Kind == TraceKind.Allocate;
        FileOf(entry.File).Pending.Add(new PendingChange
        {
            Sequence = index,
            Returned = true,
            Length = entry.LengthAfter,
            Cuts = entry.LengthAfter < entry.LengthBefore,
            Allocated = allocates ? (entry.Offset, entry.Length) : default,
        });
    }

    private void MakeNamesDurable(int begin)
    {
        foreach (var change in PendingNames)
        {
            if (change.Sequence < begin)
                change.ApplyTo(Names);
        }
        PendingNames.RemoveAll(change => change.Sequence < begin);
    }

    private static void MakeWriteDurable(DurableFile file, int begin)
    {
        int at = file.Pending.FindIndex(change => change.Sequence == begin && !change.IsLength);
        var write = file.Pending[at];
        file.Pending.RemoveAt(at);
        foreach (var older in file.Pending)
        {
            // A write in progress at the same time may reach the medium before or after this one.
            if (older.Sequence < begin && older.Returned)
                older.Subtract(write.Fragments);

            // An older cut must not zero any of these bytes.
            if (older.Sequence < begin && older.Cuts)
                ZeroBeyond(file.Content, older.Length);
        }
        write.ApplyTo(file.Content);
    }

    private static void ZeroBeyond(BlockContent content, long length)
    {
        long before = content.Length;
        content.Cut(length);
        content.Length = before;
    }

    private static void MakeFileDurable(DurableFile file, int begin)
    {
        var left = new List<PendingChange>();
        foreach (var change in file.Pending)
        {
            if (change.Sequence >= begin || !change.Returned || change.Stuck)
            {
                left.Add(change);
                continue;
            }
            foreach (var stuck in left)
            {
                if (stuck.Stuck)
                    stuck.Subtract(change.Fragments);
            }
            change.ApplyTo(file.Content);
        }
        file.Pending.Clear();
        file.Pending.AddRange(left);
    }

    /// <summary>Flips the bit wherever the byte is: on the medium, and in each change on its way there.</summary>
    private static void Rot(DurableFile file, TraceEntry entry)
    {
        var one = new byte[1];
        file.Content.Read(entry.Offset, one);
        one[0] ^= (byte)(1 << (int)entry.Length);
        long block = entry.Offset / BlockContent.BlockSize;
        int start = (int)(entry.Offset % BlockContent.BlockSize);
        file.Content.Apply(new Fragment(block, start, 1, one, 0));

        foreach (var change in file.Pending)
        {
            var rotten = change.Fragments.Where(f => f.Block == block && f.Start <= start && start < f.End).ToList();
            if (rotten.Count == 0)
                continue;
            change.Fragments = change.Fragments.Except(rotten).Concat(rotten.Select(f => Turn(f, start, (int)entry.Length))).ToList();
        }
    }

    private static Fragment Turn(Fragment fragment, int at, int bit)
    {
        var bytes = new byte[fragment.Length];
        fragment.CopyTo(bytes, 0);
        bytes[at - fragment.Start] ^= (byte)(1 << bit);
        return new Fragment(fragment.Block, fragment.Start, fragment.Length, bytes, 0);
    }
}
