using Voron.IO;

namespace Voron.Simulation.Disks;

/// <summary>
/// A disk in memory that records which data has been synced. The process sees every change at once. Every operation is also recorded in a
/// trace, from which <see cref="CrashImages"/> builds the disks that a power cut or a kill could have left.
/// </summary>
/// <remarks>
/// Disposing the disk has no effect, so the trace can be read afterwards, and the same disk can be opened again. It does not simulate
/// unreadable sectors (let reads fail instead), nor garbage in space that was never written.
/// </remarks>
internal sealed partial class SimulatedDisk : IDisk
{
    private readonly Lock _gate = new();
    private readonly LockTable<int> _locks = new();
    private readonly List<TraceEntry> _trace = [];
    private readonly Dictionary<TraceKind, int> _counts = [];
    private readonly List<(Func<DiskCall, bool> Predicate, DiskError Error, bool Forever, bool DropsDirty)> _faults = [];
    private readonly Dictionary<string, int> _names = new(StringComparer.Ordinal);
    private readonly Dictionary<int, SimulatedInode> _inodes = [];
    private readonly DurableState _initial;
    private int _nextFile = 1;
    private string _newestName = "";
    private DiskException? _lastFault;
    private bool _lastFaultDrops;
    private bool _faultsAreSuspended;

    public SimulatedDisk()
        : this(new DurableState(), new Dictionary<string, int>(), new Dictionary<int, BlockContent>())
    {
    }

    /// <summary>Creates a disk that begins with the state that an earlier one left.</summary>
    /// <param name="initial">The durable state, and the changes that are visible but not durable yet.</param>
    /// <param name="names">The visible names.</param>
    /// <param name="contents">The visible contents, by file.</param>
    public SimulatedDisk(DurableState initial, IReadOnlyDictionary<string, int> names, IReadOnlyDictionary<int, BlockContent> contents)
    {
        _initial = initial;
        foreach (var (name, file) in names)
        {
            _names.Add(name, file);
            var hasStuck = initial.Files.TryGetValue(file, out var known) && known.Pending.Exists(change => change.Stuck);
            _inodes.Add(file, new SimulatedInode { File = file, Name = name, Content = contents[file], HasStuck = hasStuck });
        }
        foreach (var file in initial.Files.Keys.Concat(_inodes.Keys))
            _nextFile = Math.Max(_nextFile, file + 1);
    }

    public string Path => "simulated";

    public object Place => this;

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly { get; set; }

    public bool IsUnbuffered { get; init; } = true;

    /// <summary>False to have no call that writes back a range, as on Windows and macOS.</summary>
    public bool WritesBack { get; init; } = true;

    public bool MapsSeeUnbufferedWrites { get; init; } = true;

    /// <summary>False unless a test is about calls on several threads: their order would not follow from the seed of a run.</summary>
    public bool WaitsForDevice { get; init; }

    /// <summary>False unless a test is about the status file, whose timer would make calls that do not follow from the seed of a run.</summary>
    public bool IsVisibleToOthers { get; init; }

    /// <summary>If false, maps can never be extended in place, so the engine must create a new map.</summary>
    public bool ExtendableMaps { get; init; } = true;

    /// <summary>The number of bytes by which a map can be extended in place.</summary>
    public long MapSlack { get; init; } = 64L << 20;

    /// <summary>
    /// Keeps the memory of maps that have ended for the maps of other disks. A pointer that is used after its map has ended is not found then.
    /// </summary>
    public bool RecyclesMaps { get; init; }

    /// <summary>Selects the order in which the directory is listed, as no file system guarantees one; 0 for the order of creation.</summary>
    public int ListingOrder { get; set; }

    /// <summary>The size of the medium in bytes; the blocks in use cannot exceed it.</summary>
    public long SpaceLimit { get; set; } = long.MaxValue;

    /// <summary>
    /// Called outside the lock while a write-through write or a sync is in progress: calls that other threads make meanwhile overlap with it
    /// in the trace.
    /// </summary>
    public Action<TraceEntry>? InProgress { get; set; }

    /// <summary>The number of cut points less one: a cut at n has entries 0 to n - 1 behind it.</summary>
    public int TraceCount
    {
        get
        {
            lock (_gate)
                return _trace.Count;
        }
    }

    public int OpenFiles
    {
        get
        {
            lock (_gate)
                return _inodes.Values.Sum(inode => inode.Handles);
        }
    }

    public int LiveMaps
    {
        get
        {
            lock (_gate)
                return _inodes.Values.Sum(inode => inode.Maps.Count);
        }
    }

    public int HeldLocks => _locks.Count;

    public long UsedBytes
    {
        get
        {
            lock (_gate)
                return UsedBytesLocked();
        }
    }

    public long VolumeBytes { get; init; } = long.MaxValue;

    public long AvailableBytes
    {
        get
        {
            lock (_gate)
                return SpaceLimit == long.MaxValue ? long.MaxValue : SpaceLimit - UsedBytesLocked();
        }
    }

    /// <summary>The state before the first entry of the trace. Must not be changed.</summary>
    /// <summary>True if the directory is that of an environment. The caller holds the lock.</summary>
    internal bool HasHeader => _names.ContainsKey(Paging.HeaderFile.FileName);

    internal DurableState Initial => _initial;

    internal Lock Gate => _gate;

    public TraceEntry Trace(int index)
    {
        lock (_gate)
            return _trace[index];
    }

    /// <summary>Returns the number of operations of a kind, for reports.</summary>
    public int Count(TraceKind kind)
    {
        lock (_gate)
            return _counts.GetValueOrDefault(kind);
    }

    public void Mark(object marker)
    {
        lock (_gate)
            Append(new TraceEntry(TraceKind.Mark) { Marker = marker });
    }

    /// <summary>
    /// Makes the next matching call fail, or every matching call. The predicate sees each call once, in order, so it may count calls.
    /// A failed sync makes nothing durable then or later. A failed write may have left any of its bytes, unless the error is
    /// <see cref="DiskError.NoSpace"/>.
    /// </summary>
    /// <param name="predicate">Selects the calls that fail.</param>
    /// <param name="error">The error of the failing calls.</param>
    /// <param name="forever">Whether all matching calls fail, rather than only the first.</param>
    /// <param name="dropsDirty">
    /// Whether a failing sync also drops the bytes that it was to make durable: the file reads as if they had not been written.
    /// </param>
    public void FailNext(Func<DiskCall, bool> predicate, DiskError error, bool forever = false, bool dropsDirty = false)
    {
        lock (_gate)
            _faults.Add((predicate, error, forever, dropsDirty));
    }

    public void ClearFaults()
    {
        lock (_gate)
            _faults.Clear();
    }

    /// <summary>The exception of the planted fault that happened last.</summary>
    public DiskException? LastFault
    {
        get
        {
            lock (_gate)
                return _lastFault;
        }
    }

    /// <summary>Suspends or resumes planted faults. Suspended faults stay planted but do not happen.</summary>
    public void SuspendFaults(bool suspend)
    {
        lock (_gate)
            _faultsAreSuspended = suspend;
    }

    /// <summary>Flips one bit of a file, on the medium and in the cache.</summary>
    public void FlipBit(string name, long offset, int bit)
    {
        lock (_gate)
        {
            var inode = Find(name, "flip");
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(offset, inode.Content.Length);
            var one = new byte[1];
            inode.Content.Read(offset, one);
            one[0] ^= (byte)(1 << bit);
            var fragments = Fragment.Split(offset, one);
            inode.Content.Apply(fragments[0]);
            inode.ShowInMaps(offset, 1);
            Append(new TraceEntry(TraceKind.Rot) { File = inode.File, Offset = offset, Length = bit });
        }
    }

    /// <summary>Returns the number by which the trace identifies a file, or -1.</summary>
    public int FileOf(string name)
    {
        lock (_gate)
            return _names.GetValueOrDefault(name, -1);
    }

    /// <summary>Returns the present or former name of the file of a trace entry; empty if the entry has no file.</summary>
    public string NameOf(TraceEntry entry)
    {
        lock (_gate)
            return entry.Name.Length > 0 ? entry.Name : _inodes.TryGetValue(entry.File, out var inode) ? inode.Name : "";
    }

    /// <summary>Returns the visible bytes of a file.</summary>
    public byte[] Contents(string name)
    {
        lock (_gate)
            return Find(name, "read").Content.ToArray();
    }

    /// <summary>Returns a copy of the visible content of a file; later writes do not change it.</summary>
    public BlockContent CopyOf(string name)
    {
        lock (_gate)
            return Find(name, "copy").Content.Clone();
    }

    public IReadOnlyList<DiskEntry> List()
    {
        lock (_gate)
        {
            Enter(DiskCallKind.List, "");
            var entries = _names.Select(pair => new DiskEntry(pair.Key, _inodes[pair.Value].Content.Length)).ToArray();
            if (ListingOrder != 0)
                new Random(ListingOrder).Shuffle(entries);
            return entries;
        }
    }

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        DiskRules.CheckName(name);
        lock (_gate)
        {
            SimulatedInode inode;
            if (open == DiskOpen.New)
            {
                Enter(DiskCallKind.Create, name);
                if (_names.ContainsKey(name))
                    throw new DiskException(DiskError.AlreadyExists, "create", PathOf(name), "there is a file of that name");
                inode = Create(name);
            }
            else
            {
                Enter(DiskCallKind.Open, name);
                inode = Find(name, "open");
            }
            inode.Handles++;
            return new SimulatedFile(this, inode, PathOf(name), access);
        }
    }

    public DiskFile OpenTemporary(DiskAccess access) => TemporaryFile.Open(this, access);

    public void Rename(string source, string target)
    {
        DiskRules.CheckName(source);
        DiskRules.CheckName(target);
        lock (_gate)
        {
            Enter(DiskCallKind.Rename, source);
            var inode = Find(source, "rename");
            if (_names.ContainsKey(target))
                throw new DiskException(DiskError.AlreadyExists, "rename", PathOf(source), $"there is a file '{target}'");
            _names.Remove(source);
            _names.Add(target, inode.File);
            inode.Name = _newestName = target;
            Append(new TraceEntry(TraceKind.Rename) { File = inode.File, Name = source, Target = target });
        }
    }

    public void Delete(string name)
    {
        DiskRules.CheckName(name);
        lock (_gate)
        {
            Enter(DiskCallKind.Delete, name);
            var inode = Find(name, "delete");
            _names.Remove(name);
            DropWhenUnused(inode);
            Append(new TraceEntry(TraceKind.Delete) { File = inode.File, Name = name });
        }
    }

    public void SyncDirectory()
    {
        if (DiskFault.SkipsDirectorySync(_newestName))
            return;
        int begin;
        var entry = new TraceEntry(TraceKind.DirectorySync);
        lock (_gate)
        {
            Enter(DiskCallKind.SyncDirectory, "");
            begin = Append(entry);
        }
        InProgress?.Invoke(entry);
        lock (_gate)
            Append(new TraceEntry(TraceKind.DirectorySyncEnd) { Begin = begin });
    }

    public IDisposable Lock(string name, bool shared)
    {
        DiskRules.CheckName(name);
        lock (_gate)
        {
            Enter(DiskCallKind.Lock, name);
            return _locks.Take(Find(name, "lock").File, shared, PathOf(name));
        }
    }

    public void Dispose()
    {
    }

    /// <summary>Refuses calls that the disk does not allow, and makes planted faults happen. The caller holds the lock.</summary>
    internal void Enter(DiskCallKind kind, string name, long offset = 0, long length = 0)
    {
        var changes = kind is DiskCallKind.Create or DiskCallKind.Rename or DiskCallKind.Link or DiskCallKind.Delete or DiskCallKind.SyncDirectory
            or DiskCallKind.SetLength or DiskCallKind.Allocate or DiskCallKind.Punch or DiskCallKind.Write or DiskCallKind.Sync
            or DiskCallKind.WriteBack;
        DiskRules.CheckWritable(IsReadOnly && changes, kind.ToString(), PathOf(name));
        if (_faultsAreSuspended)
            return;
        var call = new DiskCall(kind, name, offset, length);
        for (var i = 0; i < _faults.Count; i++)
        {
            var fault = _faults[i];
            if (!fault.Predicate(call))
                continue;
            if (!fault.Forever)
                _faults.RemoveAt(i);
            _lastFaultDrops = fault.DropsDirty;
            throw _lastFault = new DiskException(fault.Error, kind.ToString(), PathOf(name), "a planted fault");
        }
    }

    /// <summary>Adds an entry to the trace. The caller holds the lock.</summary>
    internal int Append(TraceEntry entry)
    {
        _trace.Add(entry);
        _counts[entry.Kind] = _counts.GetValueOrDefault(entry.Kind) + 1;
        return _trace.Count - 1;
    }

    /// <summary>Records that a sync has failed, and whether the bytes stay pending or are dropped. The caller holds the lock.</summary>
    internal void NoteFailedSync(SimulatedInode inode)
    {
        if (!_lastFaultDrops)
        {
            inode.HasStuck = true;
            Append(new TraceEntry(TraceKind.SyncFailed) { File = inode.File });
            return;
        }
        DropStuck(inode);
    }

    /// <summary>Drops written bytes that are not durable, so that the file reads as the medium has it. The caller holds the lock.</summary>
    internal void DropStuck(SimulatedInode inode)
    {
        inode.HasStuck = false;
        Append(new TraceEntry(TraceKind.SyncDropped) { File = inode.File });
        var state = _initial.Clone();
        for (var i = 0; i < _trace.Count; i++)
            state.Advance(i, _trace[i]);
        var left = state.FileOf(inode.File);
        inode.Content = left.Content.Clone();
        foreach (var change in left.Pending)
            change.ApplyTo(inode.Content);
        foreach (var map in inode.Maps)
            map.Show(0, map.Length);
    }

    internal void TakeSpace(SimulatedInode inode, long offset, long length)
    {
        if (SpaceLimit == long.MaxValue)
            return;
        var needed = (long)inode.Content.CountHoles(offset, length) * BlockContent.BlockSize;
        var used = UsedBytesLocked();
        if (needed > SpaceLimit - used)
        {
            throw new DiskException(
                DiskError.NoSpace, "write", PathOf(inode.Name), $"{needed} bytes more than the {used} in use are over {SpaceLimit}");
        }
    }

    internal void DropWhenUnused(SimulatedInode inode)
    {
        var named = _names.TryGetValue(inode.Name, out var file) && file == inode.File;
        if (!named && inode.Handles == 0 && inode.Maps.Count == 0)
            _inodes.Remove(inode.File);
    }

    private SimulatedInode Create(string name)
    {
        var inode = new SimulatedInode { File = _nextFile++, Name = name };
        _names.Add(_newestName = name, inode.File);
        _inodes.Add(inode.File, inode);
        Append(new TraceEntry(TraceKind.Create) { File = inode.File, Name = name });
        return inode;
    }

    private SimulatedInode Find(string name, string operation) =>
        _names.TryGetValue(name, out var file)
            ? _inodes[file]
            : throw new DiskException(DiskError.NotFound, operation, PathOf(name), "there is no such file");

    private long UsedBytesLocked() => _inodes.Values.Sum(inode => (long)inode.Content.BlockCount) * BlockContent.BlockSize;

    private string PathOf(string name) => $"{Path}/{name}";
}
