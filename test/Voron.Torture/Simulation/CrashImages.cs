namespace Voron.Torture.Simulation;

/// <summary>
/// Makes, from the trace of a disk, the disks that could be found after a crash at a cut point. It walks forward cheaply and
/// starts anew when a cut lies before the last one. What it may do is what section 3 of the design allows: each sector of a
/// write that is not durable is lost, kept or torn, by itself; lengths change in their order; names independently. Of some files
/// it may do worse when asked to: leave anything at all in such a sector, and in blocks that were not theirs before.
/// </summary>
internal sealed class CrashImages(SimulatedDisk disk)
{
    private DurableState _state = disk.Initial.Clone();
    private DurableState _startState = disk.Initial;
    private readonly HashSet<DurableFile> _spoilt = [];
    private int _cut;
    private int _start;

    /// <summary>Cuts before this one are not asked for any more: what is before is walked no second time.</summary>
    public void StartAt(int cut)
    {
        MoveTo(cut);
        _start = cut;
        _startState = _state.Clone();
    }

    /// <summary>How many changes of content, length and names are not durable at the cut.</summary>
    public int PendingAt(int cut)
    {
        MoveTo(cut);
        return _state.PendingNames.Count + _state.Files.Values.Sum(file => file.Pending.Count);
    }

    /// <summary>Sectors of the last image that hold neither what was there nor what was written.</summary>
    public int GarbageSectors { get; private set; }

    /// <summary>
    /// True when the last image has garbage in a file where something stood: there the design allows none, and an engine may be
    /// unable to do without what was lost. In space that had never been written it has to do without.
    /// </summary>
    public bool HasLost(int file) => _state.Files.TryGetValue(file, out var found) && _spoilt.Contains(found);

    /// <summary>True when bytes of a file have been written, and are not durable at the cut.</summary>
    public bool HasPendingBytes(int cut, int file)
    {
        MoveTo(cut);
        return _state.Files.TryGetValue(file, out var found) && found.Pending.Exists(change => change.Fragments.Count > 0);
    }

    /// <summary>After a power cut: what is durable, and a random part of what is not.</summary>
    /// <param name="cut">Where.</param>
    /// <param name="random">Decides what becomes of each sector.</param>
    /// <param name="leavesGarbage">Files whose sectors may hold anything when they were being written; null for none.</param>
    public SimulatedDisk Build(int cut, Random random, Func<int, bool>? leavesGarbage = null)
    {
        MoveTo(cut);
        GarbageSectors = 0;
        _spoilt.Clear();
        var chance = new CrashChance(random);
        var suspect = _state.Files.Where(file => leavesGarbage?.Invoke(file.Key) == true).Select(file => file.Value).ToHashSet();
        return PowerCut(_ => chance.KeepsName(), (file, content) => GarbageSectors += ApplySome(file, content, chance, suspect.Contains(file)));
    }

    /// <summary>What there is to be lost or kept at the cut, sector by sector; null when that is more than <paramref name="limit"/> things.</summary>
    public PendingParts? PartsAt(int cut, int sectorSize, int limit)
    {
        MoveTo(cut);
        return PendingParts.Of(_state, sectorSize, limit);
    }

    /// <summary>After a power cut that took one certain combination of the parts at the cut.</summary>
    public SimulatedDisk BuildCombination(int cut, PendingParts parts, int combination)
    {
        MoveTo(cut);
        return PowerCut(name => parts.KeepsName(name, combination), (file, content) => parts.Apply(file, content, combination));
    }

    /// <summary>After a power cut that took everything that was not durable.</summary>
    public SimulatedDisk BuildLost(int cut)
    {
        MoveTo(cut);
        return PowerCut(_ => false, (_, _) => { });
    }

    /// <summary>After a power cut that happened to take nothing.</summary>
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
    /// After a kill: everything can be seen, and what was not durable still is not, so a power cut of the new disk can take it.
    /// With <paramref name="random"/>, a write that was in progress is broken off anywhere; without, it is whole.
    /// </summary>
    public SimulatedDisk BuildKilled(int cut, Random? random = null)
    {
        MoveTo(cut);
        var next = _state.Clone();
        foreach (var file in next.Files.Values)
        {
            for (int i = 0; i < file.Pending.Count; i++)
            {
                var change = file.Pending[i];
                if (random is not null && !change.Returned)
                    change.Fragments = change.Fragments.Take(random.Next(change.Fragments.Count + 1)).ToList();
                file.Pending[i] = change.ForNextProcess();
            }
        }
        for (int i = 0; i < next.PendingNames.Count; i++)
            next.PendingNames[i] = next.PendingNames[i] with { Sequence = -1 };

        var names = new Dictionary<string, int>(next.Names, StringComparer.Ordinal);
        foreach (var change in next.PendingNames)
            change.ApplyTo(names);
        var contents = new Dictionary<int, BlockContent>();
        foreach (int id in names.Values)
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
            MapsSeeUnbufferedWrites = disk.MapsSeeUnbufferedWrites,

            // Another for each cut, and the same whenever this one is made again.
            ListingOrder = _cut,
        };

    /// <returns>How many sectors hold garbage.</returns>
    private int ApplySome(DurableFile file, BlockContent content, CrashChance chance, bool leavesGarbage)
    {
        int garbage = 0;
        int lengths = chance.PrefixOf(file.Pending.Count(change => change.IsLength));
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
                bool hadBytes = content.BlockAt(fragment.Block) is { } block && block != BlockContent.ZeroBlock;
                chance.Apply(fate, fragment, content);
                int spoilt = leavesGarbage ? chance.Spoil(fragment, content) : 0;
                if (spoilt > 0 && hadBytes)
                    _spoilt.Add(file);
                garbage += spoilt;
            }
        }
        return garbage;
    }
}
