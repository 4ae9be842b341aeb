using System.Globalization;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// Voron through its public surface, with the options a program gets by default. With more than one commit in flight it
/// commits asynchronously and waits for the oldest, so every commit is durable by <see cref="WaitForCommits"/> only.
/// </summary>
internal sealed class VoronEngine : BenchmarkEngine
{
    private const string TreeName = "items";

    private readonly StorageEnvironment _environment;
    private readonly ValueTask[] _inFlight;
    private int _nextSlot;
    private WriteTransaction _write;
    private WriteTree _writeTree;
    private ReadTransaction _read;
    private Tree _readTree;
    private Cursor _cursor;
    private bool _isWriting;
    private bool _isReading;
    private bool _hasCursor;

    public VoronEngine(string directory, EngineObserver observer, int maxCommitsInFlight)
    {
        _inFlight = new ValueTask[maxCommitsInFlight];
        _environment = StorageEnvironment.Open(directory, CreateOptions(observer));
        using WriteTransaction transaction = _environment.BeginWrite();
        transaction.CreateTree(TreeName);
        transaction.Commit();
    }

    public override string Settings
    {
        get
        {
            string? version = typeof(StorageEnvironment).Assembly.GetName().Version?.ToString(3);
            string commits = _inFlight.Length == 1
                ? "each commit durable before the next transaction begins"
                : string.Create(CultureInfo.InvariantCulture, $"commits pipelined, {_inFlight.Length} in flight");
            return $"Voron {version}; default options; {commits}";
        }
    }

    public override void BeginWrite()
    {
        _write = _environment.BeginWrite();
        _isWriting = true;
        _writeTree = _write.OpenTree(TreeName);
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _writeTree.Put(key, value);

    public override void Commit()
    {
        if (_inFlight.Length == 1)
        {
            _write.Commit();
        }
        else
        {
            ValueTask pending = _write.CommitAsync();
            Wait(_nextSlot);
            _inFlight[_nextSlot] = pending;
            _nextSlot = (_nextSlot + 1) % _inFlight.Length;
        }
        _write.Dispose();
        _isWriting = false;
    }

    public override void WaitForCommits()
    {
        for (int slot = 0; slot < _inFlight.Length; slot++)
            Wait(slot);
    }

    public override void BeginRead()
    {
        _read = _environment.BeginRead();
        _readTree = _read.OpenTree(TreeName);
        _isReading = true;
    }

    public override void EndRead()
    {
        if (_hasCursor)
            _cursor.Dispose();
        _hasCursor = false;
        _read.Dispose();
        _isReading = false;
    }

    public override long CountItems() => _readTree.Count;

    public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => _readTree.TryGet(key, out value);

    public override bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareCursor();
        return Current(_cursor.SeekFirst(), out key, out value);
    }

    public override bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        PrepareCursor();
        return Current(_cursor.SeekLast(), out key, out value);
    }

    public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(_cursor.MoveNext(), out key, out value);

    public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        Current(_cursor.MovePrevious(), out key, out value);

    public override void Dispose()
    {
        if (_isReading)
            EndRead();
        if (_isWriting)
            _write.Dispose();
        WaitForCommits();
        _environment.Dispose();
    }

    /// <summary>The one place that knows how the engine reports a commit and a flush.</summary>
    private static StorageOptions CreateOptions(EngineObserver observer) => new()
    {
        CommitObserver = report => observer.OnCommit(new CommitFigures(report.PagesChanged, report.JournalBytes)),
        FlushObserver = report => observer.OnFlush(new FlushFigures(
            report.Pages, report.Leaves, report.Branches, report.Overflows, report.Seeks, report.Bytes, report.Duration)),
    };

    private bool Current(bool found, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        key = found ? _cursor.Key : default;
        value = found ? _cursor.Value : default;
        return found;
    }

    private void PrepareCursor()
    {
        if (_hasCursor)
            return;
        _cursor = _readTree.OpenCursor();
        _hasCursor = true;
    }

    /// <summary>A value task may be asked once, and for its result only when complete: a pending one becomes a task.</summary>
    private void Wait(int slot)
    {
        ValueTask pending = _inFlight[slot];
        _inFlight[slot] = default;
        if (pending.IsCompleted)
            pending.GetAwaiter().GetResult();
        else
            pending.AsTask().GetAwaiter().GetResult();
    }
}
