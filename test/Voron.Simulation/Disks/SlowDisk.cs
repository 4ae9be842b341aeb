using Voron.IO;

namespace Voron.Simulation.Disks;

/// <summary>The way in which one call to the disk is slow.</summary>
/// <param name="Kind">The kind of the call.</param>
/// <param name="Skip">The number of calls of that kind before it.</param>
/// <param name="HoldsAfter">True if the call is held after it has done its work.</param>
/// <param name="Fails">True if the call fails in the end.</param>
internal sealed record SlowHold(DiskCallKind Kind, int Skip, bool HoldsAfter, bool Fails);

/// <summary>
/// Lends a simulated disk to one environment, holds chosen calls for as long as a run wants, even several at a time, and records resources
/// that are released during a call.
/// </summary>
internal sealed class SlowDisk(SimulatedDisk disk) : IDisk
{
    private readonly Lock _gate = new();
    private readonly List<HeldCall> _armed = [];
    private readonly List<HeldCall> _held = [];
    private int _underWay;
    private string? _violation;

    public string Path => disk.Path;

    public object Place => disk.Place;

    public int Alignment => disk.Alignment;

    public bool IsReadOnly => disk.IsReadOnly;

    public bool IsUnbuffered => disk.IsUnbuffered;

    public bool MapsSeeUnbufferedWrites => disk.MapsSeeUnbufferedWrites;

    public bool WaitsForDevice => true;

    /// <summary>The calls that are held now.</summary>
    public IReadOnlyList<HeldCall> Held
    {
        get
        {
            lock (_gate)
                return [.. _held];
        }
    }

    /// <summary>The number of calls to hold that have not been made yet.</summary>
    public int StillArmed
    {
        get
        {
            lock (_gate)
                return _armed.Count;
        }
    }

    /// <summary>A description of a resource that was released during a call, or null.</summary>
    public string? Violation => Volatile.Read(ref _violation);

    /// <summary>Holds each of these calls until it is released.</summary>
    public void Arm(IEnumerable<SlowHold> holds)
    {
        lock (_gate)
            _armed.AddRange(holds.Select(hold => new HeldCall(hold)));
    }

    /// <summary>Holds no further calls; those that are held stay held.</summary>
    public void Disarm()
    {
        lock (_gate)
            _armed.Clear();
    }

    /// <summary>Lets a call continue.</summary>
    public void Release(HeldCall held)
    {
        lock (_gate)
            _held.Remove(held);
        held.MayGoOn.Set();
    }

    public IReadOnlyList<DiskEntry> List() => Do(DiskCallKind.List, "", disk.List);

    public DiskFile Open(string name, DiskOpen open, DiskAccess access) => new SlowFile(
        this, name, Do(open == DiskOpen.New ? DiskCallKind.Create : DiskCallKind.Open, name, () => disk.Open(name, open, access)));

    public DiskFile OpenTemporary(DiskAccess access) =>
        new SlowFile(this, "temporary", Do(DiskCallKind.Create, "temporary", () => disk.OpenTemporary(access)));

    public void Rename(string source, string target) => Do(DiskCallKind.Rename, source, () => disk.Rename(source, target));

    public void Delete(string name) => Do(DiskCallKind.Delete, name, () => disk.Delete(name));

    public void SyncDirectory() => Do(DiskCallKind.SyncDirectory, "", disk.SyncDirectory);

    public IDisposable Lock(string name, bool shared) => new SlowLock(this, Do(DiskCallKind.Lock, name, () => disk.Lock(name, shared)));

    public void Dispose() => RequireQuiet("The disk is");

    private void RequireQuiet(string what)
    {
        lock (_gate)
        {
            if (_underWay > 0)
                _violation ??= $"{what} was released while {_underWay} calls are under way.";
        }
    }

    private void Do(DiskCallKind kind, string name, Action action) => Do(kind, name, () =>
    {
        action();
        return true;
    });

    private T Do<T>(DiskCallKind kind, string name, Func<T> action)
    {
        var call = new DiskCall(kind, name, 0, 0);
        HeldCall? held;
        lock (_gate)
        {
            _underWay++;
            foreach (var armed in _armed)
                armed.ToSkip -= armed.Hold.Kind == kind ? 1 : 0;
            held = _armed.Find(armed => armed.Hold.Kind == kind && armed.ToSkip < 0);
            if (held is not null)
            {
                // From here on the call can be released, whether it waits already or is about to.
                _armed.Remove(held);
                _held.Add(held);
                held.Call = call;
            }
        }
        try
        {
            return held is null ? action() : Hold(held, action);
        }
        finally
        {
            lock (_gate)
                _underWay--;
        }
    }

    private static T Hold<T>(HeldCall held, Func<T> action)
    {
        var hold = held.Hold;
        if (!hold.HoldsAfter)
            Wait(held);
        var result = hold.Fails && !hold.HoldsAfter ? throw Failure(held.Call) : action();
        if (hold.HoldsAfter)
            Wait(held);
        if (!hold.Fails || !hold.HoldsAfter)
            return result;

        // The caller never gets the opened object.
        (result as IDisposable)?.Dispose();
        throw Failure(held.Call);
    }

    private static void Wait(HeldCall held)
    {
        held.IsWaiting = true;
        held.MayGoOn.Wait();
    }

    private static DiskException Failure(DiskCall call) =>
        new(DiskError.Failed, call.Kind.ToString(), $"simulated/{call.Name}", "a planted fault of a slow call");

    /// <summary>A call that will be, is, or was held.</summary>
    internal sealed class HeldCall(SlowHold hold)
    {
        public SlowHold Hold => hold;

        public int ToSkip { get; set; } = hold.Skip;

        public DiskCall Call { get; set; }

        /// <summary>True if the call has reached the point where it is held.</summary>
        public bool IsWaiting
        {
            get => Volatile.Read(ref field);
            set => Volatile.Write(ref field, value);
        }

        public ManualResetEventSlim MayGoOn { get; } = new();
    }

    private sealed class SlowLock(SlowDisk disk, IDisposable held) : IDisposable
    {
        public void Dispose()
        {
            disk.RequireQuiet("The lock is");
            held.Dispose();
        }
    }

    private sealed unsafe class SlowFile(SlowDisk disk, string name, DiskFile file) : DiskFile(file.Path, file.Access)
    {
        private int _calls;
        private bool _isClosed;

        public override long Length
        {
            get
            {
                long length = 0;
                Do(DiskCallKind.Length, () => length = file.Length);
                return length;
            }
        }

        public override void SetLength(long length) => Do(DiskCallKind.SetLength, () => file.SetLength(length));

        public override void Allocate(long offset, long length) => Do(DiskCallKind.Allocate, () => file.Allocate(offset, length));

        public override bool TryPunchHole(long offset, long length)
        {
            var isPunched = false;
            Do(DiskCallKind.Punch, () => isPunched = file.TryPunchHole(offset, length));
            return isPunched;
        }

        public override void Read(long offset, Span<byte> destination)
        {
            fixed (byte* start = destination)
            {
                var at = start;
                var length = destination.Length;
                Do(DiskCallKind.Read, () => file.Read(offset, new Span<byte>(at, length)));
            }
        }

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            fixed (byte* start = source)
            {
                var at = start;
                var length = source.Length;
                Do(DiskCallKind.Write, () => file.Write(offset, new ReadOnlySpan<byte>(at, length)));
            }
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            // The engine must keep the blocks unchanged for as long as the call takes.
            fixed (IoBlock* start = blocks)
            {
                var at = start;
                var count = blocks.Length;
                Do(DiskCallKind.Write, () => file.WriteVectored(offset, new ReadOnlySpan<IoBlock>(at, count)));
            }
        }

        public override void Sync() => Do(DiskCallKind.Sync, file.Sync);

        public override bool TryWriteBack(long offset, long length)
        {
            var isDone = false;
            Do(DiskCallKind.WriteBack, () => isDone = file.TryWriteBack(offset, length));
            return isDone;
        }

        public override void DropCache() => file.DropCache();

        public override FileMap Map(long length)
        {
            FileMap? map = null;
            try
            {
                Do(DiskCallKind.Map, () => map = file.Map(length));
                return new SlowMap(this, map!);
            }
            catch
            {
                // The call fails after the map was created: the caller never gets it.
                map?.Dispose();
                throw;
            }
        }

        public override ScratchMap MapScratch(long offset, long length) => file.MapScratch(offset, length);

        protected override void Dispose(bool disposing)
        {
            lock (disk._gate)
            {
                if (_calls > 0)
                    disk._violation ??= $"'{name}' is closed while {_calls} calls are under way in it.";
                _isClosed = true;
            }
            file.Dispose();
        }

        public void Do(DiskCallKind kind, Action action)
        {
            lock (disk._gate)
            {
                if (_isClosed)
                    disk._violation ??= $"{kind} of '{name}' is called after it was closed.";
                _calls++;
            }
            try
            {
                disk.Do(kind, name, action);
            }
            finally
            {
                lock (disk._gate)
                    _calls--;
            }
        }
    }

    private sealed unsafe class SlowMap : FileMap
    {
        private readonly SlowFile _file;
        private readonly FileMap _map;

        public SlowMap(SlowFile file, FileMap map)
        {
            _file = file;
            _map = map;
            Address = map.Address;
            Length = map.Length;
        }

        public override bool TryExtend(long length)
        {
            var isExtended = false;
            try
            {
                _file.Do(DiskCallKind.ExtendMap, () => isExtended = _map.TryExtend(length));
            }
            finally
            {
                Length = _map.Length;
            }
            return isExtended;
        }

        public override void Shrink(long length)
        {
            _map.Shrink(length);
            Length = _map.Length;
        }

        protected override void Dispose(bool disposing)
        {
            _map.Dispose();
            Address = null;
            Length = 0;
        }
    }
}
