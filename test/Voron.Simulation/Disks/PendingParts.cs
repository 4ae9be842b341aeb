namespace Voron.Simulation.Disks;

/// <summary>
/// The parts that a power cut may independently take or leave: each sector that would differ, each change of a name, and the changes of
/// each file's length, of which any number of the oldest may have happened. All combinations of these choices are numbered.
/// </summary>
internal sealed class PendingParts
{
    private readonly List<int> _choices = [];
    private readonly Dictionary<PendingName, int> _names = [];
    private readonly Dictionary<DurableFile, FileParts> _files = [];

    private PendingParts()
    {
    }

    /// <summary>The number of sectors, names and changes of length among which to choose.</summary>
    public int Count { get; private set; }

    /// <summary>The number of different disks that can result.</summary>
    public int Combinations => _choices.Aggregate(1, (product, choices) => product * choices);

    /// <summary>Returns the parts of a state; null if there are more than <paramref name="limit"/>.</summary>
    public static PendingParts? Of(DurableState state, int sectorSize, int limit)
    {
        var parts = new PendingParts();
        foreach (var name in state.PendingNames)
        {
            parts._names.Add(name, parts._choices.Count);
            parts.Add(2);
        }
        foreach (var file in state.Files.Values.Where(file => file.Pending.Count > 0))
        {
            var found = new FileParts { File = file, LengthChoice = parts._choices.Count };
            parts._files.Add(file, found);
            var lengths = file.Pending.Count(change => change.IsLength);
            parts._choices.Add(lengths + 1);
            parts.Count += lengths;
            foreach (var (change, index) in file.Pending.Select((change, index) => (change, index)))
            {
                foreach (var fragment in change.Fragments)
                {
                    parts.AddSectors(found, index, fragment, sectorSize);
                    if (parts.Count > limit)
                        return null;
                }
            }
        }
        return parts.Count > limit ? null : parts;
    }

    public bool KeepsName(PendingName name, int combination) => Choice(_names[name], combination) == 1;

    public void Apply(DurableFile file, BlockContent content, int combination)
    {
        if (!_files.TryGetValue(file, out var parts))
            return;
        var lengths = Choice(parts.LengthChoice, combination);
        var next = 0;
        for (var i = 0; i < file.Pending.Count; i++)
        {
            if (file.Pending[i].IsLength && lengths-- > 0)
                file.Pending[i].ApplyTo(content);
            for (; next < parts.Sectors.Count && parts.Sectors[next].Change == i; next++)
            {
                if (Choice(parts.Sectors[next].Choice, combination) == 1)
                    content.Apply(parts.Sectors[next].Fragment);
            }
        }
    }

    // A sector that a write leaves unchanged can be omitted, unless another write may have changed it before.
    private void AddSectors(FileParts found, int change, Fragment fragment, int sectorSize)
    {
        var before = new byte[sectorSize];
        var after = new byte[sectorSize];
        for (var sector = fragment.Start / sectorSize * sectorSize; sector < fragment.End; sector += sectorSize)
        {
            var part = fragment.Part(Math.Max(fragment.Start, sector), Math.Min(fragment.End, sector + sectorSize));
            found.File.Content.Read(part.Block * BlockContent.BlockSize + part.Start, before.AsSpan(0, part.Length));
            part.CopyTo(after.AsSpan(0, part.Length), 0);
            if (!found.Touched.Contains((part.Block, sector)) && before.AsSpan(0, part.Length).SequenceEqual(after.AsSpan(0, part.Length)))
                continue;
            found.Touched.Add((part.Block, sector));
            found.Sectors.Add((change, _choices.Count, part));
            Add(2);
        }
    }

    private void Add(int choices)
    {
        _choices.Add(choices);
        Count++;
    }

    private int Choice(int index, int combination)
    {
        for (var i = 0; i < index; i++)
            combination /= _choices[i];
        return combination % _choices[index];
    }

    private sealed class FileParts
    {
        public required DurableFile File { get; init; }

        public required int LengthChoice { get; init; }

        /// <summary>The sectors, in the order of the changes.</summary>
        public List<(int Change, int Choice, Fragment Fragment)> Sectors { get; } = [];

        /// <summary>The sectors that a pending write may change, by block and start.</summary>
        public HashSet<(long Block, int Start)> Touched { get; } = [];
    }
}
