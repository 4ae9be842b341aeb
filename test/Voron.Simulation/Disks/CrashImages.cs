namespace Voron.Simulation.Disks;

/// <summary>
/// Builds, from the trace of a disk, the disks that could be found after a crash at a cut point. It walks forward cheaply, and starts over
/// when a cut lies before the last one. It does only what section 3 of the design allows: each sector of a write that is not durable is
/// independently lost, kept or torn; lengths change in their order; names change independently. On request, it does worse to some files: it
/// leaves arbitrary bytes in such sectors, and in blocks that were not theirs before.
/// </summary>
internal sealed class CrashImages(SimulatedDisk disk)
{
    private DurableState _state = disk.Initial.Clone();
    private DurableState _startState = disk.Initial;
    private readonly HashSet<DurableFile> _spoilt = [];
    private int _cut;
    private int _start;

    /// <summary>Declares that no cut before this one will be requested, so that the entries before it are not walked again.</summary>
    public void StartAt(int cut)
    {
        MoveTo(cut);
        _start = cut;
        _startState = _state.Clone();
    }

    /// <summary>Returns the number of changes of content, length and names that are not durable at the cut.</summary>
    public int PendingAt(int cut)
    {
        MoveTo(cut);
        return _state.PendingNames.Count + _state.Files.Values.Sum(file => file.Pending.Count);
    }

    /// <summary>The number of sectors of the last image that hold neither the old bytes nor the written ones.</summary>
    public int GarbageSectors { get; private set; }

    /// <summary>
    /// Returns true if the last image has garbage in a file where there was data. The design allows no garbage there, and the engine may be
    /// unable to do without the lost data. It must cope with garbage in space that had never been written.
    /// </summary>
    public bool HasLost(int file) => _state.Files.TryGetValue(file, out var found) && _spoilt.Contains(found);

    /// <summary>Returns true if bytes of a file have been written but are not durable at the cut.</summary>
    public bool HasPendingBytes(int cut, int file)
    {
        MoveTo(cut);
        return _state.Files.TryGetValue(file, out var found) && found.Pending.Exists(change => change.Fragments.Count > 0);
    }

    /// <summary>Builds a disk after a power cut: with everything that is durable, and a random part of everything else.</summary>
    /// <param name="cut">The cut point.</param>
    /// <param name="random">Decides the fate of each sector.</param>
    /// <param name="leavesGarbage">Selects the files whose sectors may hold anything if they were being written; null for none.</param>
    public SimulatedDisk Build(int cut, Random random, Func<int, bool>? leavesGarbage = null)
    {
        MoveTo(cut);
        GarbageSectors = 0;
        _spoilt.Clear();
        var chance = new CrashChance(random);
        var suspect = _state.Files.Where(file => leavesGarbage?.Invoke(file.Key) == true).Select(file => file.Value).ToHashSet();
        return PowerCut(_ => chance.KeepsName(), (file, content) => GarbageSectors += ApplySome(file, content, chance, suspect.Contains(file)));
    }

    /// <summary>Returns the parts that can be lost or kept at the cut, by sector; null if there are more than <paramref name="limit"/>.</summary>
    public PendingParts? PartsAt(int cut, int sectorSize, int limit)
    {
        MoveTo(cut);
        return PendingParts.Of(_state, sectorSize, limit);
    }

    /// <summary>Builds a disk after a power cut that took one given combination of the parts at the cut.</summary>
    public SimulatedDisk BuildCombination(int cut, PendingParts parts, int combination)
    {
        MoveTo(cut);
        return PowerCut(name => parts.KeepsName(name, combination), (file, content) => parts.Apply(file, content, combination));
    }

    /// <summary>Builds a disk after a power cut that took everything that was not durable.</summary>
    public SimulatedDisk BuildLost(int cut)
    {
        MoveTo(cut);
        return PowerCut(_ => false, (_, _) => { });
    }

    /// <summary>Builds a disk after a power cut that happened to take nothing.</summary>
    public SimulatedDisk BuildKept(int cut)
    {
        MoveTo(cut);
        return PowerCut(_ => true, (file, content) =>
        {
            foreach (var change in file.Pending)
                change.ApplyTo(content);
        });
    }

    /// <summary>
    /// Builds a disk after a kill: every change is visible, and changes that were not durable still are not, so a power cut of the new disk
    /// can take them. With <paramref name="random"/>, a write that was in progress is cut short anywhere; without it, the write is complete.
    /// </summary>
    public SimulatedDisk BuildKilled(int cut, Random? random = null)
    {
        MoveTo(cut);
        var next = _state.Clone();
        foreach (var file in next.Files.Values)
        {
            for (var i = 0; i < file.Pending.Count; i++)
            {
                var change = file.Pending[i];
                if (random is not null && !change.Returned)
                    change.Fragments = change.Fragments.Take(random.Next(change.Fragments.Count + 1)).ToList();
                file.Pending[i] = change.ForNextProcess();
            }
        }
        for (var i = 0; i < next.PendingNames.Count; i++)
            next.PendingNames[i] = next.PendingNames[i] with { Sequence = -1 };

        var names = new Dictionary<string, int>(next.Names, StringComparer.Ordinal);
        foreach (var change in next.PendingNames)
            change.ApplyTo(names);
        var contents = new Dictionary<int, BlockContent>();
        foreach (var id in names.Values)
        {
            var file = next.FileOf(id);
            var content = file.Content.Clone();
            foreach (var change in file.Pending)
                change.ApplyTo(content);
            content.Cut(content.Length);
            contents.Add(id, content);
        }
        return NewDisk(next, names, contents);
    }

    private void MoveTo(int cut)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(cut, _start);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(cut, disk.TraceCount);
        if (cut < _cut)
        {
            _state = _startState.Clone();
            _cut = _start;
        }
        for (; _cut < cut; _cut++)
            _state.Advance(_cut, disk.Trace(_cut));
    }

    private SimulatedDisk PowerCut(Func<PendingName, bool> keepsName, Action<DurableFile, BlockContent> applyPending)
    {
        var names = new Dictionary<string, int>(_state.Names, StringComparer.Ordinal);
        foreach (var change in _state.PendingNames)
        {
            if (keepsName(change))
                change.ApplyTo(names);
        }

        var next = new DurableState();
        var contents = new Dictionary<int, BlockContent>();
        foreach (var (name, id) in names)
        {
            next.Names.Add(name, id);
            var file = _state.FileOf(id);
            var content = file.Content.Clone();
            applyPending(file, content);
            content.Cut(content.Length);
            contents.Add(id, content);
            next.Files.Add(id, new DurableFile { Content = content.Clone() });
        }
        return NewDisk(next, next.Names, contents);
    }

    private SimulatedDisk NewDisk(DurableState state, Dictionary<string, int> names, Dictionary<int, BlockContent> contents) =>
        new(state, names, contents)
        {
            ExtendableMaps = disk.ExtendableMaps,
            MapSlack = disk.MapSlack,
            RecyclesMaps = true,
            MapsSeeUnbufferedWrites = disk.MapsSeeUnbufferedWrites,

            // A different order for each cut, and the same one whenever this disk is built again.
            ListingOrder = _cut,
        };

    /// <returns>The number of sectors that hold garbage.</returns>
    private int ApplySome(DurableFile file, BlockContent content, CrashChance chance, bool leavesGarbage)
    {
        var garbage = 0;
        var lengths = chance.PrefixOf(file.Pending.Count(change => change.IsLength));
        foreach (var change in file.Pending)
        {
            if (change.IsLength)
            {
                if (lengths-- <= 0)
                    continue;
                if (leavesGarbage)
                    garbage += chance.SpoilNewBlocks(change.Allocated, content);
                change.ApplyTo(content);
                continue;
            }
            var fate = chance.FateOfWrite();
            foreach (var fragment in change.Fragments)
            {
                var hadBytes = content.BlockAt(fragment.Block) is { } block && block != BlockContent.ZeroBlock;
                chance.Apply(fate, fragment, content);
                var spoilt = leavesGarbage ? chance.Spoil(fragment, content) : 0;
                if (spoilt > 0 && hadBytes)
                    _spoilt.Add(file);
                garbage += spoilt;
            }
        }
        return garbage;
    }
}
