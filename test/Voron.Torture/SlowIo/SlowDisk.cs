using Voron.IO;
using Voron.Torture.Simulation;

namespace Voron.Torture.SlowIo;

/// <summary>
/// Lends a simulated disk to one environment, holds one chosen call for as long as a run wants, and notes what is let go of below a
/// call that is under way.
/// </summary>
internal sealed class SlowDisk(SimulatedDisk disk) : IDisk
{
    private readonly Lock _gate = new();
    private readonly ManualResetEventSlim _isHeld = new();
    private readonly ManualResetEventSlim _mayGoOn = new();
    private Func<DiskCall, bool>? _wanted;
    private bool _holdsAfter;
    private bool _fails;
    private int _underWay;
    private string? _violation;

    public string Path => disk.Path;

    public object Place => disk.Place;

    public int Alignment => disk.Alignment;

    public bool IsReadOnly => disk.IsReadOnly;

    public bool IsUnbuffered => disk.IsUnbuffered;

    public bool MapsSeeUnbufferedWrites => disk.MapsSeeUnbufferedWrites;

    /// <summary>The call that is held, or was.</summary>
    public DiskCall Held { get; private set; }

    public bool IsHolding => _isHeld.IsSet && !_mayGoOn.IsSet;

    /// <summary>What was let go of below a call, or null.</summary>
    public string? Violation => Volatile.Read(ref _violation);

    /// <summary>The next call that fits does not return before <see cref="Release"/>.</summary>
    /// <param name="wanted">Which call.</param>
    /// <param name="holdsAfter">It has done what it is to do by then.</param>
    /// <param name="fails">It fails in the end.</param>
    public void Arm(Func<DiskCall, bool> wanted, bool holdsAfter, bool fails)
    {
        lock (_gate)
            (_wanted, _holdsAfter, _fails) = (wanted, holdsAfter, fails);
    }

    public bool WaitUntilHeld(TimeSpan longest) => _isHeld.Wait(longest);

    /// <summary>Lets the call go on, and holds none from here on.</summary>
    public void Release()
    {
        lock (_gate)
            _wanted = null;
        _mayGoOn.Set();
    }

    public IReadOnlyList<DiskEntry> List() => Do(DiskCallKind.List, "", disk.List);

    public DiskFile Open(string name, DiskOpen open, DiskAccess access) => new SlowFile(
        this, name, Do(open == DiskOpen.New ? DiskCallKind.Create : DiskCallKind.Open, name, () => disk.Open(name, open, access)));

    public DiskFile OpenTemporary() => new SlowFile(this, "temporary", Do(DiskCallKind.Create, "temporary", disk.OpenTemporary));

    public void Rename(string source, string target) => Do(DiskCallKind.Rename, source, () => disk.Rename(source, target));

    public void Delete(string name) => Do(DiskCallKind.Delete, name, () => disk.Delete(name));

    public void SyncDirectory() => Do(DiskCallKind.SyncDirectory, "", disk.SyncDirectory);

    public IDisposable Lock(string name, bool shared) => new SlowLock(this, disk.Lock(name, shared));

    public void Dispose() => RequireQuiet("The disk is");

    private void RequireQuiet(string what)
    {
        lock (_gate)
        {
            if (_underWay > 0)
                _violation ??= $"{what} let go of while {_underWay} calls are under way, {Held} among them.";
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
        bool isHeld;
        lock (_gate)
        {
            _underWay++;
            isHeld = _wanted?.Invoke(call) == true;
            if (isHeld)
            {
                _wanted = null;
                Held = call;
            }
        }
        try
        {
            if (!isHeld)
                return action();
            return Hold(call, action);
        }
        finally
        {
            lock (_gate)
                _underWay--;
        }
    }

    private T Hold<T>(DiskCall call, Func<T> action)
    {
        if (!_holdsAfter)
            Wait();
        T result = _fails && !_holdsAfter ? throw Failure(call) : action();
        if (_holdsAfter)
            Wait();
        if (!_fails || !_holdsAfter)
            return result;

        // The caller never sees what has been opened.
        (result as IDisposable)?.Dispose();
        throw Failure(call);
    }

    private void Wait()
    {
        _isHeld.Set();
        _mayGoOn.Wait();
    }

    private static DiskException Failure(DiskCall call) =>
        new(DiskError.Failed, call.Kind.ToString(), $"simulated/{call.Name}", "a planted fault of a slow call");

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

        public override long Length => file.Length;

        public override void SetLength(long length) => Do(DiskCallKind.SetLength, () => file.SetLength(length));

        public override void Allocate(long offset, long length) => Do(DiskCallKind.Allocate, () => file.Allocate(offset, length));

        public override bool TryPunchHole(long offset, long length)
        {
            bool isPunched = false;
            Do(DiskCallKind.Punch, () => isPunched = file.TryPunchHole(offset, length));
            return isPunched;
        }

        public override void Read(long offset, Span<byte> destination)
        {
            fixed (byte* start = destination)
            {
                byte* at = start;
                int length = destination.Length;
                Do(DiskCallKind.Read, () => file.Read(offset, new Span<byte>(at, length)));
            }
        }

        public override void Write(long offset, ReadOnlySpan<byte> source)
        {
            fixed (byte* start = source)
            {
                byte* at = start;
                int length = source.Length;
                Do(DiskCallKind.Write, () => file.Write(offset, new ReadOnlySpan<byte>(at, length)));
            }
        }

        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            // What the engine hands over is to stay as it is for as long as the call takes.
            fixed (IoBlock* start = blocks)
            {
                IoBlock* at = start;
                int count = blocks.Length;
                Do(DiskCallKind.Write, () => file.WriteVectored(offset, new ReadOnlySpan<IoBlock>(at, count)));
            }
        }

        public override void Sync() => Do(DiskCallKind.Sync, file.Sync);

        public override FileMap Map(long length) => file.Map(length);

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

        private void Do(DiskCallKind kind, Action action)
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
}
