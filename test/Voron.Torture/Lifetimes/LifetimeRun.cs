using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Lifetimes;

/// <summary>
/// Tests pending puts, streams, cursors and spans against every call that ends them or undoes the changes that they depend on: each either
/// continues correctly or reports that it has ended, and leaves nothing in the store.
/// </summary>
internal sealed class LifetimeRun : IDisposable
{
    private const string TreeName = "items";

    private readonly SuiteRun _run;
    private readonly Tape _choices;
    private readonly StorageOptions _options;
    private readonly SimulatedDisk _disk = new();
    private readonly List<LifetimePut> _puts = [];
    private readonly List<LifetimeStream> _streams = [];
    private readonly List<LifetimeReader> _readers = [];
    private readonly List<Cursor> _cursors = [];
    private readonly List<(Savepoint Savepoint, SortedDictionary<int, LifetimeValue> Content)> _savepoints = [];
    private SortedDictionary<int, LifetimeValue> _committed = [];
    private SortedDictionary<int, LifetimeValue> _content = [];
    private StorageEnvironment _environment;
    private WriteTransaction _writing;
    private WriteTree _tree;

    public LifetimeRun(SuiteRun run)
    {
        _run = run;
        _choices = run.Choices;
        _options = new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = 256 << 10,
            MaxJournalFileBytes = 1 << 20,
            LargeValueBytes = LifetimeValue.Large,
            JournaledValueBytes = 0,
        };
        _environment = StorageEnvironment.Open(_disk, _options);
    }

    public void Work(int transactions)
    {
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < transactions && !_run.Stop.IsCancellationRequested))
                break;
            Transaction();
            Between();
            _run.Count();
        }
        foreach (var reader in _readers)
        {
            reader.Check();
            reader.Dispose();
        }
        _readers.Clear();
        _environment.Dispose();
        _environment = StorageEnvironment.Open(_disk, _options);
        CheckContent();
    }

    public void Dispose()
    {
        foreach (var reader in _readers)
            reader.Dispose();
        if (_environment is not null)
        {
            _writing.Dispose();
            _environment.Dispose();
        }
        _disk.Dispose();
    }

    private void Transaction()
    {
        _writing = _environment.BeginWrite();
        _tree = _writing.CreateTree(TreeName);
        _content = new(_committed);
        var steps = _choices.Next(4, 40);
        for (var i = 0; ; i++)
        {
            if (!_choices.GoesOn(i < steps))
                break;
            Step();
        }
        End();
    }

    private void Step()
    {
        var key = _choices.Next(LifetimeKeys.Count);
        switch (_choices.Next(16))
        {
            case 0 or 1:
                var value = LifetimeValue.Draw(_choices);
                _run.Step($"put {key}: {value.Length} bytes");
                _tree.Put(LifetimeKeys.Of(key), value.Bytes());
                _content[key] = value;
                NoteChange(key);
                break;
            case 2:
                _run.Step($"delete {key}");
                _tree.Delete(LifetimeKeys.Of(key));
                _content.Remove(key);
                NoteChange(key);
                break;
            case 3 or 4:
                BeginPut(key);
                break;
            case 5 or 6 or 7:
                GoOnWithPut();
                break;
            case 8:
                OpenStream(key);
                break;
            case 9 or 10:
                if (_streams.Count > 0)
                    _streams[_choices.Next(_streams.Count)].Read(_choices);
                break;
            case 11:
                _run.Step("create savepoint");
                if (!IsRefused("a savepoint", () => _savepoints.Add((_writing.CreateSavepoint(), new(_content)))))
                    _run.Tally("savepoints");
                break;
            case 12 or 13:
                UseSavepoint();
                break;
            case 14:
                UseCursor(key);
                break;
            default:
                _run.Step("delete tree");
                if (IsRefused("the deletion of the tree", () => _writing.DeleteTree(TreeName)))
                    break;
                _tree = _writing.CreateTree(TreeName);
                _content.Clear();
                NoteChange(-1);
                break;
        }
    }

    private void BeginPut(int key)
    {
        if (_puts.Count == 3)
            return;
        var value = LifetimeValue.Draw(_choices);
        _run.Step($"put {key} by a stream: {value.Length} bytes");
        var put = new LifetimePut(_tree, key, value);
        _puts.Add(put);
        NoteChange(-1, isAny: false);
        put.Send(_choices.Next(put.Left + 1));
    }

    private void GoOnWithPut()
    {
        if (_puts.Count == 0)
            return;
        var put = _puts[_choices.Next(_puts.Count)];
        switch (_choices.Next(4))
        {
            case 0:
                _run.Step($"fail the stream of {put.Key}");
                _puts.Remove(put);
                put.Fail();
                break;
            case 1:
                _run.Step($"complete the stream of {put.Key}");
                Complete(put);
                break;
            default:
                _run.Step($"send more to {put.Key}");
                put.Send(_choices.Next(put.Left + 1));
                break;
        }
        NoteChange(-1, isAny: false);
    }

    private void Complete(LifetimePut put)
    {
        _puts.Remove(put);
        put.Complete();
        _content[put.Key] = put.Value;
        NoteChange(put.Key);
    }

    private void OpenStream(int key)
    {
        _run.Step($"open a stream of {key}");
        var found = _tree.TryOpenStream(LifetimeKeys.Of(key), out var stream);
        BrokenPromiseException.Require(found == _content.ContainsKey(key), $"Key {key} {(found ? "exists" : "is missing")}.");
        if (found)
            _streams.Add(new LifetimeStream(stream!, key, _content[key]));
    }

    private void UseSavepoint()
    {
        if (_savepoints.Count == 0)
            return;
        var index = _choices.Next(_savepoints.Count);
        (var savepoint, var content) = _savepoints[index];
        switch (_choices.Next(3))
        {
            case 0:
                _run.Step($"roll back to savepoint {index} with {_puts.Count} puts pending");
                savepoint.Rollback();
                _savepoints.RemoveRange(index + 1, _savepoints.Count - index - 1);
                _content = new(content);
                EndPuts();
                NoteChange(-1);
                foreach (var stream in _streams)
                    stream.MayEnd = true;
                _tree = _writing.CreateTree(TreeName);
                break;
            case 1:
                _run.Step($"release savepoint {index}");
                if (!IsRefused("the release of a savepoint", savepoint.Release))
                    _savepoints.RemoveRange(index, _savepoints.Count - index);
                break;
            default:
                _run.Step($"dispose savepoint {index}");
                savepoint.Dispose();
                _savepoints.RemoveRange(index, _savepoints.Count - index);
                break;
        }
    }

    private void UseCursor(int key)
    {
        if (_cursors.Count < 3)
        {
            _run.Step($"open a cursor at {key}");
            var opened = _tree.OpenCursor();
            opened.Seek(LifetimeKeys.Of(key));
            _cursors.Add(opened);
            return;
        }
        var index = _choices.Next(_cursors.Count);
        _run.Step("move a cursor");
        try
        {
            if (_cursors[index].MoveNext())
                CheckEntry(_cursors[index].Key, _cursors[index].Value);
        }
        catch (InvalidOperationException)
        {
            _cursors.RemoveAt(index);
        }
    }

    private void CheckEntry(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var number = key.Length == 2 ? key[1] - 'a' : -1;
        BrokenPromiseException.Require(
            _content.TryGetValue(number, out var expected) && value.SequenceEqual(expected.Bytes()),
            $"A cursor is at key {number}, with another value.");
    }

    private void End()
    {
        var commits = _choices.Next(3) != 0;
        if (commits && _puts.Count > 0)
        {
            var isAsync = _choices.Next(2) == 0;
            _run.Step("commit too early");
            IsRefused("a commit", () =>
            {
                if (isAsync)
                    _writing.CommitAsync().AsTask().GetAwaiter().GetResult();
                else
                    _writing.Commit();
            });
            while (_puts.Count > 0)
                Complete(_puts[0]);
        }
        _run.Step(commits ? "commit" : $"dispose with {_puts.Count} puts pending");
        if (commits)
        {
            _writing.Commit();
            _committed = _content;
        }
        else
        {
            _writing.Dispose();
        }
        EndPuts();
        _savepoints.Clear();
        foreach (var stream in _streams)
            stream.Read(_choices, mustEnd: true);
        _streams.Clear();
        foreach (var cursor in _cursors)
            RequireEnded(cursor);
        _cursors.Clear();
        CheckContent();
    }

    private static void RequireEnded(Cursor cursor)
    {
        try
        {
            cursor.MoveNext();
        }
        catch (ObjectDisposedException)
        {
            return;
        }
        throw new BrokenPromiseException("A cursor moves after its transaction has ended.");
    }

    private void EndPuts()
    {
        foreach (var put in _puts)
        {
            put.RequireEnd(_choices.Next(2) == 0);
            _run.Tally("puts ended while pending");
        }
        _puts.Clear();
    }

    private void Between()
    {
        switch (_choices.Next(6))
        {
            case 0:
                // Every used page has blocks, including those that were returned earlier.
                _run.Step("flush without room");
                _disk.SpaceLimit = _disk.UsedBytes;
                _environment.Flush();
                _disk.SpaceLimit = long.MaxValue;
                break;
            case 1:
                _run.Step("reclaim");
                _environment.ReclaimSpace();
                break;
            case 2:
                var reader = new LifetimeReader(_environment, TreeName);
                _readers.Add(reader);
                for (var i = 0; i < 4; i++)
                    reader.Hold(_choices.Next(LifetimeKeys.Count));
                break;
            case 3 when _readers.Count > 2:
                _readers[0].Check();
                _readers[0].Dispose();
                _readers.RemoveAt(0);
                break;
        }
        foreach (var reader in _readers)
        {
            reader.Check();
            if (_choices.Next(4) != 0)
                continue;
            _run.Step("fork a reader");
            reader.Fork();
            reader.Check();
        }
    }

    // With a put pending, the call has to be refused without any change; otherwise it has to succeed.
    private bool IsRefused(string what, Action call)
    {
        try
        {
            call();
        }
        catch (InvalidOperationException e) when (_puts.Count > 0)
        {
            BrokenPromiseException.Require(
                e.Message.Contains("PutAsync", StringComparison.Ordinal), $"The refusal of {what} does not say why: {e.Message}");
            _run.Tally("calls refused");
            return true;
        }
        BrokenPromiseException.Require(_puts.Count == 0, $"With {_puts.Count} puts pending {what} was not refused.");
        return false;
    }

    /// <param name="key">The key whose value has changed; -1 for all.</param>
    /// <param name="isAny">False if only small waiting puts may have been applied, and nothing else.</param>
    private void NoteChange(int key, bool isAny = true)
    {
        foreach (var stream in _streams)
            stream.MayEnd |= !stream.IsLarge || (isAny && (key < 0 || stream.Key == key));
    }

    private void CheckContent()
    {
        using (var reading = _environment.BeginRead())
        {
            var found = reading.TryOpenTree(TreeName, out var tree);
            BrokenPromiseException.Require(
                (found ? tree.Count : 0) == _committed.Count, $"There are {(found ? tree.Count : 0)} entries where {_committed.Count} should be.");
            foreach ((var key, var value) in _committed)
            {
                BrokenPromiseException.Require(
                    tree.TryGet(LifetimeKeys.Of(key), out var bytes) && bytes.SequenceEqual(value.Bytes()),
                    $"Key {key} has another value.");
            }
        }
        var report = _environment.Verify();
        BrokenPromiseException.Require(report.Problems.Count == 0, $"The structure is broken: {string.Join(" ", report.Problems.Take(3))}");
    }
}
