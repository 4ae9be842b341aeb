using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Simulation.Sorting;
using Voron.Sorting;

namespace Voron.Torture.Sorting;

/// <summary>Sorts random entries with one event meanwhile, and compares them with a sorted dictionary.</summary>
/// <remarks>
/// A sort without an event is right. With one, it is right, or a call has thrown the exception that belongs to the event. In both cases, it has kept
/// to its memory, and has left no memory and no open file.
/// </remarks>
internal sealed class SortCase(SuiteRun run) : IDisposable
{
    private const int MaxEntries = 12_000;
    private const int MaxKeyBytes = 3_000;

    private static readonly DiskCallKind[] Failing =
        [DiskCallKind.Create, DiskCallKind.Allocate, DiskCallKind.Write, DiskCallKind.Read, DiskCallKind.Punch];

    private readonly Tape _choices = run.Choices;
    private readonly SimulatedDisk _disk = new();
    private readonly MemoryAccount _account = new(_ => { }, _ => { });
    private readonly CancellationTokenSource _source = new();
    private SortEvent _event;
    private int _eventAt;

    private enum SortEvent
    {
        None,
        FailedCall,
        FullDisk,
        FlippedBit,
        CutFile,
        Cancellation,
        Disposal,
    }

    public void Run()
    {
        run.Count();
        var keys = (KeyKind)_choices.Next(Enum.GetValues<KeyKind>().Length);
        var rule = (DuplicateKeys)_choices.Next(3);
        var memory = BulkLoadOptions.MinMemoryBytes + _choices.Next(4) * BulkLoadOptions.MinMemoryBytes / 2;
        var count = _choices.Next(_choices.Next(2) == 0 ? 1000 : MaxEntries);
        _event = _choices.Next(3) == 0 ? SortEvent.None : (SortEvent)_choices.Next(Enum.GetValues<SortEvent>().Length);
        _eventAt = _choices.Next(2 * count + 1);
        run.Step($"{count} entries with {keys} keys, {rule}, {memory} bytes, {_event} at {_eventAt}");
        run.Tally($"{_event}");
        PlanFailure();
        var model = new SortModel(rule);
        var options = new SortOptions
        {
            MemoryBytes = memory,
            Duplicates = rule,
            Cancellation = _source.Token,
            Account = _account,
            UsesPool = _choices.Next(4) == 3,
        };
        using var files = new TemporaryFiles(new NamedSpillDisk(_disk));
        var failure = Attempt(new EntrySorter(files, options), new EntryMaker(_choices, keys, MaxKeyBytes), model, count);
        Judge(failure, model.HasDuplicates && rule == DuplicateKeys.Refuse);
        if (_account.Bytes != 0 || _disk.OpenFiles != 0)
            throw new BrokenPromiseException($"{_account.Bytes} bytes and {_disk.OpenFiles} open files are left");
        if (_account.PeakBytes > memory)
            throw new BrokenPromiseException($"the sort has used {_account.PeakBytes} bytes of {memory}");
    }

    public void Dispose()
    {
        _account.Dispose();
        _source.Dispose();
        _disk.Dispose();
    }

    private Exception? Attempt(EntrySorter sorter, EntryMaker maker, SortModel model, int count)
    {
        try
        {
            var longest = _choices.Next(3) switch { 0 => 20, 1 => 300, _ => 2000 };
            var isCompressible = _choices.Next(2) == 0;
            for (var i = 0; i < count; i++)
            {
                Happen(sorter, i);
                var key = maker.NextKey();
                var length = _choices.Next(200) == 199 ? sorter.MaxEntryBytes - key.Length : longest;
                var value = maker.NextValue(_choices.Next(length), isCompressible);
                model.Add(key, value);
                sorter.Add(key, value);
            }

            Happen(sorter, count);
            model.Check(sorter.Complete(), read => Happen(sorter, count + 1 + read));
            return null;
        }
        catch (Exception e) when (e is VoronException or OperationCanceledException or ObjectDisposedException or DuplicateEntryException)
        {
            return e;
        }
        finally
        {
            sorter.Dispose();
        }
    }

    private void PlanFailure()
    {
        if (_event == SortEvent.FullDisk)
            _disk.SpaceLimit = _choices.Next(4 << 20);
        if (_event != SortEvent.FailedCall)
            return;
        var kind = Failing[_choices.Next(Failing.Length)];
        var left = _choices.Next(60);
        _disk.FailNext(call => call.Kind == kind && left-- == 0, _choices.Next(2) == 0 ? DiskError.Failed : DiskError.NoSpace);
    }

    private void Happen(EntrySorter sorter, int step)
    {
        if (step != _eventAt)
            return;
        if (_event == SortEvent.Cancellation)
            _source.Cancel();
        else if (_event == SortEvent.Disposal)
            sorter.Dispose();
        else if (_event == SortEvent.FlippedBit && sorter.SpilledBytes > 0)
            _disk.FlipBit(NamedSpillDisk.SpillName, _choices.NextInt64(sorter.SpilledBytes), _choices.Next(8));
        else if (_event == SortEvent.CutFile && sorter.SpilledBytes > 0)
            CutFile(sorter.SpilledBytes);
    }

    private void CutFile(long length)
    {
        using var file = _disk.Open(NamedSpillDisk.SpillName, DiskOpen.Existing, DiskAccess.Buffered);
        file.SetLength(_choices.NextInt64(length));
    }

    private void Judge(Exception? failure, bool refusesDuplicate)
    {
        var isRight = failure switch
        {
            null => !refusesDuplicate,
            DuplicateEntryException => refusesDuplicate,
            StorageFullException => _event is SortEvent.FullDisk or SortEvent.FailedCall,
            StorageAccessException => _event == SortEvent.FailedCall,
            CorruptionException => _event is SortEvent.FlippedBit or SortEvent.CutFile,
            OperationCanceledException => _event == SortEvent.Cancellation,
            ObjectDisposedException => _event == SortEvent.Disposal,
            _ => false,
        };
        if (!isRight)
            throw new BrokenPromiseException($"with {_event}, and {(refusesDuplicate ? "a" : "no")} refused duplicate: {failure?.ToString() ?? "no exception"}");
    }
}
