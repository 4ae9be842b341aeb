namespace Voron.Benchmarks.Engines;

/// <summary>
/// Voron through its public API, with the default options. With more than one commit in flight, it commits asynchronously and waits for
/// the oldest commit, so all commits are durable only after <see cref="WaitForCommits"/>.
/// </summary>
internal sealed class VoronEngine : BenchmarkEngine
{
    internal const string TreeName = "items";

    private readonly StorageEnvironment _environment;
    private readonly StorageOptions _options;
    private readonly ValueTask[] _inFlight;
    private int _nextSlot;
    private WriteTransaction _write;
    private WriteTree _writeTree;
    private bool _isWriting;
    private bool _hasTree;
    private BulkLoad? _load;

    public VoronEngine(string directory, EngineObserver observer, StorageOptions? options = null, int maxCommitsInFlight = 1)
    {
        _options = options ?? new StorageOptions();
        _options.CommitObserver = observer.OnCommit;
        _options.FlushObserver = observer.OnFlush;

        // The newest commit begins before the oldest one is awaited.
        _inFlight = new ValueTask[maxCommitsInFlight - 1];
        _environment = StorageEnvironment.Open(directory, _options);
        _hasTree = HasTree();
    }

    public override int? PageSize => _environment.GetStatistics().PageSize;

    public override TimeSpan? CommitWriteTime => _environment.GetStatistics().JournalWriteTime;

    public override string Settings
    {
        get
        {
            var version = typeof(StorageEnvironment).Assembly.GetName().Version?.ToString(3);
            var commits = _inFlight.Length == 0
                ? "each commit durable before the next transaction begins"
                : $"commits pipelined, {_inFlight.Length + 1} in flight";
            var options = _options.JournalCompression == JournalCompression.Auto
                ? "default options"
                : $"{nameof(StorageOptions.JournalCompression)} {_options.JournalCompression}, other options default";
            return $"Voron {version}; {options}; {commits}";
        }
    }

    public override void BeginLoad(bool isSorted) =>
        _load = _environment.BeginBulkLoadAsync(TreeName, new BulkLoadOptions { Sorted = isSorted }).AsTask().GetAwaiter().GetResult();

    public override void EndLoad()
    {
        using (_load)
            _load!.CompleteAsync().AsTask().GetAwaiter().GetResult();
        _load = null;
        _hasTree = true;
    }

    public override void BeginWrite()
    {
        if (_load != null)
            return;
        _write = _environment.BeginWrite();
        _isWriting = true;
        _writeTree = _hasTree ? _write.OpenTree(TreeName) : _write.CreateTree(TreeName);
        _hasTree = true;
    }

    public override void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (_load != null)
            _load.Put(key, value);
        else
            _writeTree.Put(key, value);
    }

    public override bool Delete(ReadOnlySpan<byte> key) => _writeTree.Delete(key);

    public override void Commit()
    {
        if (_load != null)
            return;
        if (_inFlight.Length == 0)
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
        if (_options.Durability == Durability.Durable)
            return;
        using var writing = _environment.BeginWrite();
        writing.Durability = Durability.Durable;
        writing.Commit();
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

    public override BenchmarkReader CreateReader() => new Reader(_environment);

    public override void Dispose()
    {
        _load?.Dispose();
        if (_isWriting)
            _write.Dispose();
        WaitForCommits();
        _environment.Dispose();
    }

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

    /// <summary>A read transaction with its tree, and a cursor for scans.</summary>
    private sealed class Reader(StorageEnvironment environment) : BenchmarkReader
    {
        private readonly LookupBatch _batch = new();
        private ReadTransaction _read;
        private Tree _tree;
        private Cursor _cursor;
        private bool _isReading;
        private bool _hasCursor;

        public override void Begin()
        {
            _read = environment.BeginRead();
            _tree = _read.OpenTree(TreeName);
            _isReading = true;
        }

        public override void End()
        {
            if (_hasCursor)
                _cursor.Dispose();
            _hasCursor = false;
            _read.Dispose();
            _isReading = false;
        }

        public override bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => _tree.TryGet(key, out value);

        public override int GetMany(ItemBuffer keys, int count, ref ContentChecksum checksum)
        {
            _batch.Clear();
            for (var i = 0; i < count; i++)
                _batch.Add(keys.Key(i));
            var found = _tree.GetMany(_batch);
            var sum = checksum;
            for (var i = 0; i < count; i++)
            {
                if (_batch.TryGetValue(i, out var value))
                    sum.Add(value);
            }
            checksum = sum;
            return found;
        }

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

        public override bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => Current(_cursor.MoveNext(), out key, out value);

        public override bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
            Current(_cursor.MovePrevious(), out key, out value);

        public override void Dispose()
        {
            if (_isReading)
                End();
        }

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
            _cursor = _tree.OpenCursor();
            _hasCursor = true;
        }
    }
}
