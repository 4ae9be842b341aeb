using System.Text;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Staging;

/// <summary>
/// Uploads values beside transactions, flushes, returned space, readers and crashes: each value that was put can be read whole after its commit and
/// is ready again after a rollback, and everything that was reserved for others is free in the end.
/// </summary>
internal sealed class StagingRun : IDisposable
{
    private const string TreeName = "items";
    private const int Keys = 24;
    private const int MostUploads = 4;
    private const int MostStaged = 5;
    private const int MostReaders = 2;

    private static readonly int[] PageSizes = [4096, 4096, 16384, 65536];

    private readonly SuiteRun _run;
    private readonly Tape _choices;
    private readonly StorageOptions _options;
    private readonly SimulatedDisk _disk;
    private readonly List<StagingUpload> _uploads = [];
    // Values that were disposed of while a transaction had them.
    private readonly HashSet<StagedValue> _disposed = [];
    private readonly List<(StagedValue Staged, ModelValue Value)> _staged = [];
    private readonly List<(ReadTransaction Reading, SortedDictionary<int, ModelValue> Content)> _readers = [];
    private SortedDictionary<int, ModelValue> _committed = [];
    private StorageEnvironment _environment;

    public StagingRun(SuiteRun run)
    {
        _run = run;
        _choices = run.Choices;
        _disk = new SimulatedDisk { MapsSeeUnbufferedWrites = _choices.Next(3) < 2, ExtendableMaps = _choices.Next(3) < 2 };
        _options = new StorageOptions
        {
            PageSize = PageSizes[_choices.Next(PageSizes.Length)],
            BackgroundFlush = false,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 256 << 10,
            MaxGrowthBytes = 1 << 20,
            LargeValueBytes = _choices.Next(2) == 0 ? 16 << 10 : 100_000,
            JournaledValueBytes = 0,
            VerifyEveryRead = _choices.Next(4) == 3,
            TornPageProtection = _choices.Next(4) == 3 ? TornPageProtection.FullPageImages : TornPageProtection.Checksums,
        };
        _environment = StorageEnvironment.Open(_disk, _options);
    }

    public void Work(int steps)
    {
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < steps && !_run.Stop.IsCancellationRequested))
                break;
            Step();
            CheckReserved();
            _run.Count();
        }

        CheckGivenBack();
    }

    public void Dispose()
    {
        foreach (var (reading, _) in _readers)
            reading.Dispose();
        foreach (var (staged, _) in _staged)
            staged.Dispose();
        _environment.Dispose();
        _disk.Dispose();
    }

    private void Step()
    {
        switch (_choices.Next(24))
        {
            case < 8:
                Upload();
                break;
            case < 11:
                StageAtOnce();
                break;
            case 11 when _staged.Count > 0:
                _run.Step("dispose a staged value");
                var index = _choices.Next(_staged.Count);
                _staged[index].Staged.Dispose();
                _staged.RemoveAt(index);
                break;
            case < 17:
                Transaction();
                break;
            case 17:
                RunGroupCommit();
                break;
            case 18:
                _run.Step("flush");
                _environment.Flush();
                break;
            case 19 or 20:
                _run.Step("reclaim");
                _environment.ReclaimSpace();
                break;
            case 21:
                Read();
                break;
            case 22:
                Crash();
                break;
            default:
                if (_choices.Next(3) == 0)
                    Reopen();
                else
                    FlushWithoutRoom();
                break;
        }
    }

    // Sends, ends or begins an upload; the writer is free, so each step of an upload is complete when this returns.
    private void Upload()
    {
        if (_uploads.Count == 0 || (_uploads.Count < MostUploads && _choices.Next(3) == 0))
        {
            var value = Draw();
            _run.Step($"begin an upload of {value.Length} bytes");
            _uploads.Add(new StagingUpload(_environment, value));
            return;
        }

        var upload = _uploads[_choices.Next(_uploads.Count)];
        switch (_choices.Next(6))
        {
            case 0:
                _run.Step($"fail an upload after {upload.Sent} bytes");
                _uploads.Remove(upload);
                upload.Fail();
                break;
            case 1 or 2:
                _run.Step($"complete an upload of {upload.Value.Length} bytes");
                _uploads.Remove(upload);
                Keep(upload.Complete(), upload.Value);
                break;
            default:
                var bytes = _choices.Next(upload.Left + 1);
                _run.Step($"send {bytes} bytes more to an upload");
                upload.Send(bytes);
                break;
        }
    }

    private void StageAtOnce()
    {
        var value = Draw();
        _run.Step($"stage {value.Length} bytes");
        using var stream = new MemoryStream(value.ToBytes());
        Keep(_environment.StageAsync(stream).AsTask().GetAwaiter().GetResult(), value);
    }

    private void Keep(StagedValue staged, ModelValue value)
    {
        if (_staged.Count == MostStaged)
        {
            _staged[0].Staged.Dispose();
            _staged.RemoveAt(0);
        }

        _staged.Add((staged, value));
    }

    private void Transaction()
    {
        var commits = _choices.Next(3) > 0;
        _run.Step(commits ? "transaction" : "transaction that is rolled back");
        var content = new SortedDictionary<int, ModelValue>(_committed);
        var ready = ReadyValues();
        using (var writing = _environment.BeginWrite())
        {
            for (var i = _choices.Next(1, 8); _choices.GoesOn(i > 0); i--)
            {
                if (_choices.Next(5) == 0)
                    ChangeInSavepoint(writing, content);
                else
                    Change(writing, content);
            }

            if (commits)
                writing.Commit();
        }

        if (commits)
            _committed = content;
        else
            RequireReturned(ready);
        RequireStates();
        CheckContent(_environment, _committed, full: _choices.Next(4) == 0);
    }

    private void ChangeInSavepoint(WriteTransaction writing, SortedDictionary<int, ModelValue> content)
    {
        var before = new SortedDictionary<int, ModelValue>(content);
        var ready = ReadyValues();
        using var savepoint = writing.CreateSavepoint();
        for (var i = _choices.Next(1, 4); _choices.GoesOn(i > 0); i--)
            Change(writing, content);
        if (_choices.Next(2) == 0)
            return;
        _run.Report("roll back to the savepoint");
        savepoint.Rollback();
        RequireReturned(ready);
        content.Clear();
        foreach (var (key, value) in before)
            content.Add(key, value);
    }

    private void Change(WriteTransaction writing, SortedDictionary<int, ModelValue> content)
    {
        var key = _choices.Next(Keys);
        var tree = writing.CreateTree(TreeName);
        var ready = _staged.Where(staged => staged.Staged.State == StagedValueState.Ready).ToList();
        switch (_choices.Next(6))
        {
            case 0 or 1 or 2 when ready.Count > 0:
                var (staged, value) = ready[_choices.Next(ready.Count)];
                _run.Report($"put the staged {value.Length} bytes under {key}");
                tree.Put(KeyOf(key), staged);
                content[key] = value;
                if (_choices.Next(8) == 0)
                {
                    staged.Dispose();
                    _disposed.Add(staged);
                }

                break;
            case 3:
                _run.Report($"delete {key}");
                tree.Delete(KeyOf(key));
                content.Remove(key);
                break;
            default:
                var plain = Draw();
                _run.Report($"put {plain.Length} bytes under {key}");
                tree.Put(KeyOf(key), plain.ToBytes());
                content[key] = plain;
                break;
        }
    }

    private List<StagedValue> ReadyValues() =>
        [.. _staged.Select(staged => staged.Staged).Where(staged => staged.State == StagedValueState.Ready)];

    // What a rollback has undone can be put again.
    private void RequireReturned(List<StagedValue> ready)
    {
        foreach (var staged in ready.Where(staged => !_disposed.Contains(staged)))
            BrokenPromiseException.Require(staged.State == StagedValueState.Ready, $"After a rollback, a {staged} cannot be put again.");
    }

    // No transaction is open, so none has a staged value. Those that cannot be put any more are forgotten.
    private void RequireStates()
    {
        foreach (var (staged, value) in _staged)
        {
            BrokenPromiseException.Require(
                staged.State != StagedValueState.InTransaction, $"A staged value of {value.Length} bytes is in a transaction, and none is open.");
        }

        _staged.RemoveAll(staged => staged.Staged.State != StagedValueState.Ready);
    }

    private void RunGroupCommit()
    {
        _run.Step("group commit");
        var content = new SortedDictionary<int, ModelValue>(_committed);
        var tasks = new List<Task>();
        using (_environment.BeginWrite())
        {
            for (var i = _choices.Next(1, 4); _choices.GoesOn(i > 0); i--)
            {
                var fails = _choices.Next(3) == 0;
                tasks.Add(_environment.WriteAsync(writing =>
                {
                    var own = new SortedDictionary<int, ModelValue>(content);
                    Change(writing, own);
                    if (fails)
                        throw new InvalidOperationException("The operation changes its mind.");
                    content = own;
                }).AsTask());
            }
        }

        foreach (var task in tasks)
            task.ContinueWith(_ => { }, TaskScheduler.Default).Wait();
        var unexpected = tasks.Select(task => task.Exception?.InnerException).FirstOrDefault(e => e is not (null or InvalidOperationException));
        if (unexpected != null)
            throw new BrokenPromiseException($"An operation of a group commit failed: {unexpected.Message}", unexpected);
        _committed = content;
        RequireStates();
        CheckContent(_environment, _committed, full: false);
    }

    private void Read()
    {
        if (_readers.Count < MostReaders && _choices.Next(2) == 0)
        {
            _run.Step("begin a reader");
            _readers.Add((_environment.BeginRead(), new(_committed)));
            return;
        }

        _run.Step("end the readers");
        EndReaders();
    }

    private void EndReaders()
    {
        foreach (var (reading, content) in _readers)
        {
            CheckContent(reading, content, full: true);
            reading.Dispose();
        }

        _readers.Clear();
    }

    // Everything that was acknowledged survives, and nothing of the uploads does.
    private void Crash()
    {
        var isKilled = _choices.Next(2) == 1;
        _run.Step(isKilled ? "kill" : "cut the power");
        var images = new CrashImages(_disk);
        using var disk = isKilled ? images.BuildKilled(_disk.TraceCount) : images.BuildLost(_disk.TraceCount);
        using var environment = StorageEnvironment.Open(disk, _options);
        CheckContent(environment, _committed, full: true);
        BrokenPromiseException.Require(environment.GetStatistics().StagedBytes == 0, "Something is reserved after an opening.");
        _run.Tally(isKilled ? "kills" : "power cuts");
    }

    private void Reopen()
    {
        _run.Step("close and open");
        EndReaders();
        _environment.Dispose();
        foreach (var upload in _uploads)
            upload.RequireEnd<ObjectDisposedException>();
        _uploads.Clear();
        foreach (var (staged, _) in _staged)
            staged.Dispose();
        _staged.Clear();
        _environment = StorageEnvironment.Open(_disk, _options);
        CheckContent(_environment, _committed, full: true);
    }

    // Every page in use has blocks, including those that were holes when they were reserved.
    private void FlushWithoutRoom()
    {
        _run.Step("flush without room");
        _disk.SpaceLimit = _disk.UsedBytes;
        _environment.Flush();
        _disk.SpaceLimit = long.MaxValue;
    }

    private void CheckReserved()
    {
        var staged = _staged.Sum(one => one.Value.Length < _options.LargeValueBytes ? 0 : Pages(one.Value.Length) * _options.PageSize);
        var written = _uploads.Sum(upload => upload.Sent < _options.LargeValueBytes ? 0L : upload.Sent);
        var reserved = _environment.GetStatistics().StagedBytes;
        BrokenPromiseException.Require(
            _uploads.Count == 0 ? reserved == staged : reserved >= staged + written,
            $"{reserved} bytes are reserved; {staged} are staged, and {written} of uploads are written.");
        var most = _uploads.Sum(upload => upload.Sent < _options.LargeValueBytes ? 0L : Math.Max(2L * upload.Sent, 128 << 10) + _options.PageSize);
        BrokenPromiseException.Require(
            reserved <= staged + most,
            $"{reserved} bytes are reserved, far more than the {staged} that are staged and the {written} of uploads.");
    }

    // The file becomes small again: no page of an upload is left behind.
    private void CheckGivenBack()
    {
        _run.Step("give everything back");
        EndReaders();
        foreach (var upload in _uploads)
            upload.Fail();
        foreach (var (staged, _) in _staged)
            staged.Dispose();
        _uploads.Clear();
        _staged.Clear();
        using (var writing = _environment.BeginWrite())
        {
            writing.DeleteTree(TreeName);
            writing.Commit();
        }
        _committed = [];
        _environment.Flush();
        _environment.ReclaimSpace();
        _environment.Flush();
        _environment.ReclaimSpace();
        var statistics = _environment.GetStatistics();
        BrokenPromiseException.Require(statistics.StagedBytes == 0, $"{statistics.StagedBytes} bytes are reserved, for nothing.");
        // A file that is longer by less than 4 MiB keeps the room that it was given to grow into.
        var bytes = statistics.PageCount * statistics.PageSize;
        BrokenPromiseException.Require(
            bytes <= 1 << 20 && statistics.DataFileBytes - bytes < 4 << 20,
            $"Nothing is stored or reserved; {bytes} bytes have pages, and the data file has {statistics.DataFileBytes}.");
        CheckContent(_environment, _committed, full: true);
    }

    private static void CheckContent(StorageEnvironment environment, SortedDictionary<int, ModelValue> expected, bool full)
    {
        using (var reading = environment.BeginRead())
            CheckContent(reading, expected, full);
        if (full)
            ContentCheck.Verify(environment);
    }

    private static void CheckContent(ReadTransaction reading, SortedDictionary<int, ModelValue> expected, bool full)
    {
        var found = reading.TryOpenTree(TreeName, out var tree);
        var count = found ? tree.Count : 0;
        BrokenPromiseException.Require(count == expected.Count, $"There are {count} entries where {expected.Count} should be.");
        foreach (var (key, value) in expected)
        {
            BrokenPromiseException.Require(
                tree.TryGet(KeyOf(key), out var bytes) && bytes.Length == value.Length && (!full || Digest.Of(bytes) == value.Digest),
                $"Key {key} does not have the {value.Length} bytes that were put.");
        }
    }

    private long Pages(long bytes) => (bytes + PageSize - 1) / PageSize;

    private long PageSize => _environment.Options.PageSize!.Value;

    private ModelValue Draw()
    {
        var length = _choices.Next(8) switch
        {
            0 => _choices.Next(2000),
            1 or 2 => _choices.Next(200_000, 900_000),
            3 => 64 << 10,
            _ => _choices.Next(16 << 10, 120_000),
        };
        return new ModelValue(_choices.Next(), length);
    }

    private static byte[] KeyOf(int key) => Encoding.ASCII.GetBytes($"key {key}");
}
