using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Testing;
using Voron.Torture.Backups;
using Voron.Torture.Crashes;

namespace Voron.Torture.Compactions;

/// <summary>
/// Compacts one environment again and again, while writes, flushes and everything else come at places within the compaction, and then cuts the power
/// or kills the process at any call: no content changes, and no page is lost or has two owners.
/// </summary>
internal sealed class CompactionCase(SuiteRun run) : IDisposable
{
    private const int MaxSteps = 24;
    private const int MaxCuts = 12;

    private static readonly SchedulePlace[] Places =
        [SchedulePlace.CompactionFound, SchedulePlace.CompactionCopied, SchedulePlace.CompactionBlocksMade];

    private readonly Tape _choices = run.Choices;
    private readonly BackedUpStore _store = new(run) { Records = run.Index % 4 == 1 };

    // The calls of the disk before which a transaction was durable.
    private readonly List<(int Calls, long TransactionId)> _durable = [];
    private int _actionsLeft;
    private int _firstCall;
    private bool _hasGroups;

    public void Run()
    {
        if (_choices.Next(8) == 7)
            _store.Options.FormatVersion = (int)JournalFormat.Version1;
        _hasGroups = _choices.Next(12) == 11;
        _store.Open();
        _firstCall = _store.Disk.TraceCount;
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxSteps && !run.Stop.IsCancellationRequested))
                break;
            Step();
        }

        Cut();
    }

    public void Dispose() => _store.Dispose();

    private void Step()
    {
        switch (_choices.Next(10))
        {
            case < 3:
                _store.DoSomething();
                break;
            case < 7:
                _store.WriteMany();
                break;
            case < 9:
                Compact();
                break;
            default:
                if (_hasGroups && _choices.Next(3) > 0)
                    _store.GrowOverGroups();
                else
                    _store.Reopen();
                break;
        }

        NoteDurable();
    }

    private void Compact()
    {
        var stopsAfter = _choices.Next(4) == 3 ? _choices.Next(1, 10) : int.MaxValue;
        using var stop = new CancellationTokenSource();
        var options = new CompactionOptions
        {
            IsOnOneThread = true,
            ReaderPatience = TimeSpan.Zero,
            Progress = new Counter(() =>
            {
                if (--stopsAfter == 0)
                    stop.Cancel();
            }),
        };
        _actionsLeft = _choices.Next(2) == 1 ? 12 : 0;
        run.Report("compact");
        run.Count();
        SchedulePoint.Current = new ActionsAtPlaces(At);
        try
        {
            var report = _store.Environment.CompactAsync(options, stop.Token).AsTask().GetAwaiter().GetResult();
            run.Report($"{report}");
            run.Tally("compactions");
            run.Tally("bytes moved", report.BytesMoved);
            run.Tally("values left", report.ValuesLeft);
            if (report.IsComplete)
                run.Tally("complete");
            if (_actionsLeft == 12)
                CheckLength(report);
        }
        catch (OperationCanceledException)
        {
            run.Tally("stopped");
        }
        finally
        {
            SchedulePoint.Current = null;
        }

        Check(_store.Environment, "after a compaction");
    }

    // With nothing beside it, a compaction that is complete leaves the file about as long as what it holds.
    private static void CheckLength(CompactionReport report)
    {
        if (report.IsComplete && report.BytesAfter > report.UsedBytes * 1.05 + (256 << 10))
            throw new CrashViolationException($"a complete compaction has left {report.BytesAfter} bytes for {report.UsedBytes}");
        if (report.BytesAfter > report.BytesBefore)
            throw new CrashViolationException($"a compaction made the file longer: {report.BytesAfter} bytes instead of {report.BytesBefore}");
    }

    // Other threads, at the places of the compaction.
    private void At(SchedulePlace place)
    {
        if (!Places.Contains(place) || _actionsLeft == 0 || _choices.Next(3) == 0)
            return;
        _actionsLeft--;
        run.Report($"at {place}:");
        if (place == SchedulePlace.CompactionCopied && _choices.Next(2) == 1)
            _store.ChangeAll();
        else if (_choices.Next(4) == 3)
            _store.WriteMany();
        else
            _store.DoSomething();
        NoteDurable();
    }

    private void NoteDurable() => _durable.Add((_store.Disk.TraceCount, _store.Engine.Ring.PublishedId));

    private void Check(StorageEnvironment environment, string when)
    {
        if (environment.Verify() is { IsSound: false } report)
            throw new CrashViolationException($"{when}, the environment is damaged: {report.Problems[0]}");
        using var reading = environment.BeginRead();
        if (Content.DigestOf(reading) != _store.DigestAt(reading.TransactionId))
            throw new CrashViolationException($"{when}, the environment has not the content of transaction {reading.TransactionId}");
        RecordedWork.Check(environment, when);
    }

    private void Cut()
    {
        var images = new CrashImages(_store.Disk);
        var end = _store.Disk.TraceCount;
        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < MaxCuts && !run.Stop.IsCancellationRequested))
                return;
            var cut = _firstCall + _choices.Next(end - _firstCall);
            var isKill = _choices.Next(3) == 2;
            run.Report($"{(isKill ? "kill" : "power cut")} after call {cut} of {end - 1}");
            run.Count();
            using var disk = isKill ? images.BuildKilled(cut, _choices) : images.Build(cut, _choices);
            using var environment = StorageEnvironment.Open(disk, _store.Options);
            var found = environment.Internals.Engine.Ring.PublishedId;
            var expected = _durable.Where(durable => durable.Calls <= cut).Select(durable => durable.TransactionId).DefaultIfEmpty(0).Max();
            if (found < expected)
                throw new CrashViolationException($"transaction {expected} was durable, but the environment has {found}");
            if (!_store.HasUnownedPages(found))
                Check(environment, "after the cut");
            _choices.Forget(drawn);
        }
    }

    private sealed class Counter(Action count) : IProgress<CompactionProgress>
    {
        public void Report(CompactionProgress value) => count();
    }
}
