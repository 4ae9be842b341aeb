using Voron.Simulation.Harness;

namespace Voron.Torture.Model;

/// <summary>Compares one environment with its model, through a number of random operations.</summary>
internal sealed partial class ModelRun : IDisposable
{
    private const int MaxReaders = 6;

    private readonly ModelSettings _settings;
    private readonly Random _random;
    private readonly ModelObserver _observer;
    private readonly ModelVersions _versions;
    private readonly LargeOverwrites _overwrites;
    private readonly List<ModelReader> _readers = [];
    private readonly List<Task> _commits = [];
    private ModelPlace _place;
    private StorageEnvironment _environment;

    public ModelRun(ModelSettings settings, Random random, ModelObserver observer)
    {
        _settings = settings;
        _observer = observer;
        _random = random;
        _versions = new ModelVersions { HasOthers = settings.Drops || settings.Compresses };
        _overwrites = new LargeOverwrites(settings, random, History, _versions);
        _place = new ModelPlace(settings.InMemory);
        try
        {
            _environment = _place.Open(settings.Options);
        }
        catch
        {
            _place.Dispose();
            throw;
        }

        using var reading = _environment.BeginRead();
        _versions.Add(reading.TransactionId);
        _observer.Restart(reading.TransactionId);
    }

    public ModelHistory History { get; } = new();

    public void Run(int operations)
    {
        while (History.Operations < operations && _random is not Tape { HasMore: false })
        {
            (_random as Tape)?.Mark();
            Step();
        }

        Settle();
        AwaitDrops();
        Verify();
        if (_readers.Count > 0)
            CheckReader(_readers[0], close: true);
        CloseReaders();
        History.Note("final reopening");
        _environment.Dispose();
        EndDrops();
        _environment = _place.Open(_settings.Options);
        AwaitDrops();
        Verify();
        CheckNow();
    }

    public void Dispose()
    {
        // Must work after a failure too, when a reader may have ended already and the environment may be closed.
        try
        {
            foreach (var reader in _readers)
                reader.Transaction.Dispose();
            _environment.Dispose();
        }
        finally
        {
            _place.Dispose();
        }
    }

    private void Step()
    {
        if (_settings.Drops && _random.Next(40) == 39)
        {
            Drop();
            return;
        }

        if (_settings.Compresses && _random.Next(12) == 11)
        {
            Compress();
            return;
        }

        switch (_random.Next(1000))
        {
            case < 780:
                Write();
                break;
            case < 830:
                if (_readers.Count < MaxReaders)
                    _readers.Add(_versions.BeginRead(_environment, History));
                else
                    CheckReader(_readers[_random.Next(MaxReaders)], close: true);
                break;
            case < 910:
                if (_readers.Count > 0)
                    CheckReader(_readers[_random.Next(_readers.Count)], close: _random.Next(8) == 0);
                break;
            case < 945:
                History.Add("flush");
                _environment.Flush();
                break;
            case < 970:
                RunGroupCommit();
                break;
            case < 980:
                Verify();
                break;
            case < 985:
                Settle();
                CheckNow();
                break;
            case < 990:
                Reopen();
                break;
            case < 994:
                if (!_settings.Background)
                    Kill();
                break;
            case < 996:
                OpenForReading();
                break;
            case < 998:
                ReclaimSpace();
                break;
            case < 999:
                CheckStatistics();
                break;
            default:
                OverwriteLarge();
                break;
        }
    }

    // Where free pages at the end are returned, an internal transaction of the engine lowers the page count, and changes nothing else.
    private void ReclaimSpace()
    {
        History.Add("reclaim space");
        BrokenPromiseException.Require(_environment.ReclaimSpace() >= 0, "less than nothing was returned");
        var newest = _versions.NewestId;
        using var reading = _environment.BeginRead();
        if (reading.TransactionId == newest + 1)
            _versions.Add(reading.TransactionId);
    }

    private void Write()
    {
        Task? flush = null;
        var transaction = BeginWrite();
        try
        {
            var id = transaction.TransactionId;
            History.Note($"begin {id}");
            var writer = new ModelWriter(_settings, _random, History, transaction, _versions.Newest);
            writer.Run(_random.Next(12) == 0 ? _random.Next(200) : _random.Next(1, 25), simple: false);
            if (_random.Next(40) == 0)
            {
                History.Add("flush beside the transaction");
                flush = Task.Run(() => _environment.Flush());
                writer.Run(_random.Next(10), simple: false);
            }

            if (writer.IsBroken || _random.Next(10) == 0)
            {
                History.Add("roll back");
                return;
            }

            Commit(transaction, id, writer.State);
            if (_random.Next(8) == 0)
                writer.Escape().CheckEnded();
        }
        finally
        {
            transaction.Dispose();
            flush?.GetAwaiter().GetResult();
        }
    }

    private void Commit(WriteTransaction transaction, long id, ModelState state)
    {
        var isNew = state != _versions.Newest;
        try
        {
            if (_random.Next(40) == 0)
                TryToBeSecond();
            if (_random.Next(4) == 0)
            {
                History.Add("commit without waiting");
                var task = transaction.CommitAsync().AsTask();
                if (isNew || !task.IsCompleted)
                    _commits.Add(task);
            }
            else
            {
                History.Add("commit");
                transaction.Commit();
                if (isNew)
                    _versions.Acknowledge(id);
            }
        }
        catch (StorageFullException) when (_settings.HasSmallTransactions)
        {
            History.Note("  (too large)");
            return;
        }

        _versions.Add(id, state);
        if (_commits.Count > 8)
            Settle();
    }

    /// <summary>Waits for all submitted commits.</summary>
    private void Settle()
    {
        foreach (var commit in _commits)
            commit.GetAwaiter().GetResult();
        _commits.Clear();
        _observer.Check(_versions.Acknowledged, 0);
    }

    private WriteTransaction BeginWrite()
    {
        switch (_random.Next(10))
        {
            case 8:
                return _environment.BeginWrite(TimeSpan.FromMinutes(1));
            case 9:
                return _environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult();
            default:
                return _environment.BeginWrite();
        }
    }

    /// <summary>
    /// Checks that there is one write transaction at a time, and that a caller that does not want to wait gets an exception.
    /// </summary>
    private void TryToBeSecond()
    {
        History.Note("a second write transaction");
        try
        {
            _environment.BeginWrite(TimeSpan.Zero).Dispose();
        }
        catch (TimeoutException)
        {
            var operation = _environment.WriteAsync(Cancelled, new CancellationToken(canceled: true));
            BrokenPromiseException.Require(operation.IsCanceled, "a cancelled operation does not report that it is cancelled");
            return;
        }

        throw new ModelMismatchException("two write transactions are open");
    }

    private static void Cancelled(WriteTransaction writing) => throw new InvalidOperationException("it was cancelled");

    private void CheckStatistics()
    {
        Settle();
        History.Add("statistics");
        var statistics = _environment.GetStatistics();
        BrokenPromiseException.Require(
            statistics.OpenReaders == _readers.Count, $"{statistics.OpenReaders} readers are counted, and {_readers.Count} are open");
        BrokenPromiseException.Require(
            statistics is { IsPoisoned: false, LeakedReaders: 0, LeakedWriters: 0 } && statistics.PublishedTransactionId >= _versions.Acknowledged
            && statistics.CheckpointTransactionId <= statistics.PublishedTransactionId && statistics.PageSize == _settings.Options.PageSizeOrDefault,
            $"the statistics do not fit: {statistics}");
        BrokenPromiseException.Require(
            HasOptions(_environment.Options, _settings.Options) && _environment.Path.Length > 0
            && _environment.MaxKeyLength == _settings.Options.PageSizeOrDefault / 4 - 64, "the environment has other options than it was given");
        if (!_settings.Background)
            _observer.Check(_versions.Acknowledged, statistics.Flushes);
    }

    // The environment has a copy, in which nothing is left open.
    private static bool HasOptions(StorageOptions actual, StorageOptions given) => typeof(StorageOptions).GetProperties().All(option =>
        option.GetValue(given) is not { } value || value.Equals(option.GetValue(actual))
        || (value is IEnumerable<string> list && list.SequenceEqual((IEnumerable<string>)option.GetValue(actual)!)));

    private void RunGroupCommit()
    {
        // Operations that fit alone may be too large together; it is then unpredictable which of them fail.
        if (_settings.HasSmallTransactions)
            return;
        History.Note("group commit");
        Settle();
        var state = _versions.Newest;
        ModelEscape? escaped = null;
        var tasks = new List<Task>();
        for (var i = _random.Next(1, 12); i > 0; i--)
        {
            var fails = _random.Next(4) == 0;
            var random = new Random(_random.Next());
            tasks.Add(_environment.WriteAsync(transaction =>
            {
                var writer = new ModelWriter(_settings, random, History, transaction, state);

                // A short operation may do nothing but put, which is undone in a way of its own.
                writer.Run(random.Next(1, random.Next(2) == 0 ? 3 : 20), simple: random.Next(2) == 0);
                escaped?.CheckEnded();
                escaped = writer.Escape();
                if (fails || writer.IsBroken)
                {
                    History.Note("  (fails)");
                    throw new PlannedException();
                }

                state = writer.State;
            }).AsTask());
        }

        foreach (var task in tasks)
        {
            try
            {
                task.GetAwaiter().GetResult();
            }
            catch (PlannedException)
            {
            }
        }

        using var reading = _environment.BeginRead();
        _versions.Add(reading.TransactionId, state);
        _versions.Acknowledge(reading.TransactionId);
        new ModelReader(reading, _versions.Newest).CheckSome(History, _random);
    }

    private void OverwriteLarge()
    {
        Settle();
        AwaitDrops();
        CloseReaders();
        _overwrites.Make(_environment);
        CheckNow();
        _overwrites.Delete(_environment);
    }

    private void CheckReader(ModelReader reader, bool close)
    {
        if (_random.Next(6) == 0)
            reader.CheckAll(History);
        else
            reader.CheckSome(History, _random);
        if (!close)
            return;
        History.Note($"end reading {reader.Transaction.TransactionId}");
        reader.Transaction.Dispose();
        _readers.Remove(reader);
    }

    private void CloseReaders()
    {
        while (_readers.Count > 0)
            CheckReader(_readers[^1], close: true);
    }

    private void CheckNow()
    {
        var reader = _versions.BeginRead(_environment, History);
        try
        {
            if (reader.State != _versions.Newest)
                throw new ModelMismatchException($"a reader sees transaction {reader.Transaction.TransactionId}, which is not the last");
            reader.CheckAll(History);
        }
        finally
        {
            reader.Transaction.Dispose();
        }
    }

    private void Verify()
    {
        History.Add("verify");
        var report = _environment.Verify();
        if (!report.IsSound)
            throw new ModelMismatchException(report.ToString());
    }

    private void CheckPublished()
    {
        using var reading = _environment.BeginRead();
        if (reading.TransactionId < _versions.Acknowledged)
            throw new ModelMismatchException($"transaction {_versions.Acknowledged} was acknowledged, and a reader sees {reading.TransactionId}");
    }

    private sealed class PlannedException : Exception;
}
