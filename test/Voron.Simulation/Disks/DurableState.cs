namespace Voron.Simulation.Disks;

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
        var allocates = entry.Kind == TraceKind.Allocate;
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
        var at = file.Pending.FindIndex(change => change.Sequence == begin && !change.IsLength);
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
        var before = content.Length;
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
        var block = entry.Offset / BlockContent.BlockSize;
        var start = (int)(entry.Offset % BlockContent.BlockSize);
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
