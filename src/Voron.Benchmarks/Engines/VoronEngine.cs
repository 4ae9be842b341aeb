using System.Globalization;

namespace Voron.Benchmarks.Engines;

/// <summary>
/// Voron through its public API, with the default options. With more than one commit in flight, it commits asynchronously and waits for
/// the oldest commit, so all commits are durable only after <see cref="WaitForCommits"/>.
/// </summary>
internal sealed class VoronEngine : BenchmarkEngine
{
    internal const string TreeName = "items";

    private readonly StorageEnvironment _environment;
    private readonly JournalCompression _compression;
    private readonly ValueTask[] _inFlight;
    private int _nextSlot;
    private WriteTransaction _write;
    private WriteTree _writeTree;
    private bool _isWriting;
    private bool _hasTree;

    public VoronEngine(
        string directory, EngineObserver observer, int maxCommitsInFlight, JournalCompression compression = JournalCompression.Auto)
    {
        _inFlight = new ValueTask[maxCommitsInFlight];
        _compression = compression;
        _environment = StorageEnvironment.Open(directory, CreateOptions(observer, compression));
        _hasTree = HasTree();
    }

    public override int? PageSize => _environment.GetStatistics().PageSize;

    public override TimeSpan? CommitWriteTime => _environment.GetStatistics().JournalWriteTime;

    public override string Settings
    {
        get
        {
            var version = typeof(StorageEnvironment).Assembly.GetName().Version?.ToString(3);
            var commits = _inFlight.Length == 1
                ? "each commit durable before the next transaction begins"
                : string.Create(CultureInfo.InvariantCulture, $"commits pipelined, {_inFlight.Length} in flight");
            var options = _compression == JournalCompression.Auto
                ? "default options"
                : $"{nameof(StorageOptions.JournalCompression)} {_compression}, other options default";
            return $"Voron {version}; {options}; {commits}";
        }
    }

    public override void BeginWrite()
    {
        _write = _environment.BeginWrite();
        _isWriting = true;
        _writeTree = _hasTree ? _write.OpenTree(TreeName) : _write.CreateTree(TreeName);
        _hasTree = true;
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _writeTree.Put(key, value);

    public override bool Delete(ReadOnlySpan<byte> key) => _writeTree.Delete(key);

    public override void Commit()
    {
        if (_inFlight.Length == 1)
        {
            _write.Commit();
        }
        else
        {
            var pending = _write.CommitAsync();
            Wait(_nextSlot);
            _inFlight[_nextSlot] = pending;
            _nextSlot = (_nextSlot + 1) % _inFlight.Length;
        }
        _write.Dispose();
        _isWriting = false;
    }

    public override void WaitForCommits()
    {
        for (var slot = 0; slot < _inFlight.Length; slot++)
            Wait(slot);
    }

    public override AsyncCaller CreateCaller()
    {
        if (!_hasTree)
        {
            BeginWrite();
            Commit();
        }

        return new Caller(_environment);
    }

    public override BenchmarkReader CreateReader() => new VoronReader(_environment);

    public override void Dispose()
    {
        if (_isWriting)
            _write.Dispose();
        WaitForCommits();
        _environment.Dispose();
    }

    /// <summary>Passes the engine's reports of commits and flushes to the observer. No other code depends on their form.</summary>
    private static StorageOptions CreateOptions(EngineObserver observer, JournalCompression compression) => new()
    {
        JournalCompression = compression,
        CommitObserver = report => observer.OnCommit(new CommitFigures(report.PagesChanged, report.JournalBytes)),
        FlushObserver = report => observer.OnFlush(new FlushFigures(
            report.Pages, report.Leaves, report.Branches, report.Overflows, report.Seeks, report.Bytes, report.Duration)),
    };

    private bool HasTree()
    {
        using var transaction = _environment.BeginRead();
        return transaction.TryOpenTree(TreeName, out _);
    }

    /// <summary>Waits for a value task. It can be awaited only once, and must not block before it is complete, so a pending one becomes
    /// a task.</summary>
    private void Wait(int slot)
    {
        var pending = _inFlight[slot];
        _inFlight[slot] = default;
        if (pending.IsCompleted)
            pending.GetAwaiter().GetResult();
        else
            pending.AsTask().GetAwaiter().GetResult();
    }

    /// <summary>Keeps the delegate, so that a put allocates no closure.</summary>
    private sealed class Caller : AsyncCaller
    {
        private readonly StorageEnvironment _environment;
        private readonly Action<WriteTransaction> _put;
        private ReadOnlyMemory<byte> _key;
        private ReadOnlyMemory<byte> _value;

        public Caller(StorageEnvironment environment)
        {
            _environment = environment;
            _put = transaction => transaction.OpenTree(TreeName).Put(_key.Span, _value.Span);
        }

        public override ValueTask PutAsync(ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> value)
        {
            _key = key;
            _value = value;
            return _environment.WriteAsync(_put);
        }
    }
}
