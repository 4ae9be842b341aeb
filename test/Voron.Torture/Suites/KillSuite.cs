using System.Buffers.Binary;
using System.Diagnostics;
using Voron.KillTarget;
using Voron.Torture.Crashes;
using Voron.Torture.Harness;
using Voron.Torture.Kills;

namespace Voron.Torture.Suites;

/// <summary>Starts a separate process that works, reports its phases and each acknowledged commit, and is killed.</summary>
internal sealed class KillSuite : Suite
{
    private const int KillsPerRun = 20;

    /// <summary>The number of reports after which a phase that does not come is given up.</summary>
    private const int MaxReports = 400;

    /// <summary>Phases take from some microseconds to some milliseconds.</summary>
    private const int LongestDelayMicroseconds = 4_000;

    /// <summary>A drop has many transactions, and its code is compiled in the first ones of a process.</summary>
    private const int StepsOfDrop = 12;

    /// <summary>
    /// The newest state of one in this many is not examined: the next process finds it unchanged, and is killed while it recovers.
    /// </summary>
    private const int LeftOneIn = 4;

    /// <summary>
    /// A process that has reported nothing for this long hangs. Less than the limit of a run: the process must not outlive the run.
    /// </summary>
    private static readonly TimeSpan Hanging = TimeSpan.FromSeconds(60);

    /// <summary>More than freeing a tree takes on a busy machine.</summary>
    private static readonly TimeSpan DropLimit = TimeSpan.FromSeconds(20);

    private static readonly KillPhase[] Wanted = [.. Enum.GetValues<KillPhase>().Where(phase => phase != KillPhase.None)];

    public override string Name => "kill";

    public override string Summary => "a process killed in every phase of its work, compared with a ledger of its acknowledged commits";

    public override string Unit => "kills";

    public override long TestCount => 70;

    public override long FullCount => 100_000;

    public override bool IsReplayable => false;

    // With cuts, a kill includes two mounts and a copy of the device's content, on a machine that may be busy.
    public override TimeSpan RunLimit => VolumeCut.IsOn ? TimeSpan.FromMinutes(30) : base.RunLimit;

    public override IReadOnlyList<string> NotCovered => ["the moment of a kill is not exact to the instruction: a failure is found, but may not be reproduced by a replay"];

    public override void Run(SuiteRun run)
    {
        var directory = VolumeCut.Volume is { } volume
            ? Directory.CreateDirectory(Path.Combine(volume, $"voron-kill-{run.Index}")).FullName
            : Directory.CreateTempSubdirectory("voron-kill-").FullName;
        var next = new KillTargetProcess();
        try
        {
            var ledger = new Ledger();
            var isLeft = false;
            for (var kill = 0; kill < KillsPerRun && !run.Stop.IsCancellationRequested; kill++)
            {
                using var target = next;
                next = new KillTargetProcess();
                var wanted = isLeft ? KillPhase.Opening : Wanted[run.Choices.Next(Wanted.Length)];
                if (!TryKill(run, target, directory, wanted, out var least))
                    return;
                ledger.Acknowledge(least, target.Acknowledged);
                run.Count();
                run.Tally($"killed while {(isLeft && target.Phase == KillPhase.Opening ? "recovering" : Describe(target.Phase))}");
                isLeft = !isLeft && run.Choices.Next(LeftOneIn) == 0;
                if (!isLeft)
                    ledger.Compare(run, directory, kill);
            }
            if (isLeft)
                ledger.Compare(run, directory, KillsPerRun);
        }
        finally
        {
            next.Dispose();
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>Returns false if the run is to stop: then the process has been killed at an unknown place.</summary>
    private static bool TryKill(SuiteRun run, KillTargetProcess target, string directory, KillPhase wanted, out long least)
    {
        var delay = run.Choices.Next(LongestDelayMicroseconds);
        if (wanted == KillPhase.Dropping)
            delay *= StepsOfDrop;
        run.Step($"{wanted}, {delay} microseconds");
        target.Work(directory, run.Choices.Next());
        least = 0;
        if (!TryListen(run, target, wanted))
            return false;
        var begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun).TotalMicroseconds < delay)
            Thread.SpinWait(20);

        // Commits that are acknowledged after a cut has begun may be lost with it.
        least = target.Acknowledged;
        VolumeCut.CutPower();
        target.Kill();
        if (!VolumeCut.IsOn)
            least = target.Acknowledged;
        VolumeCut.Restore();
        return true;
    }

    // A read from a process that hangs waits until the process has ended, so the process is killed.
    private static bool TryListen(SuiteRun run, KillTargetProcess target, KillPhase wanted)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(run.Stop);
        using var end = limit.Token.Register(target.End);
        try
        {
            for (var reports = 0; reports < MaxReports && target.Phase != wanted; reports++)
            {
                limit.CancelAfter(Hanging);
                target.Listen();
            }
            return !run.Stop.IsCancellationRequested;
        }
        catch (BrokenPromiseException e) when (limit.IsCancellationRequested)
        {
            if (run.Stop.IsCancellationRequested)
                return false;
            throw new BrokenPromiseException($"The process hangs while {Describe(target.Phase)}: it has reported nothing for {Hanging.TotalSeconds} s.", e);
        }
    }

    private static string Describe(KillPhase phase) => phase == KillPhase.None ? "open" : phase.ToString().ToLowerInvariant();

    /// <summary>The expected content.</summary>
    private sealed class Ledger
    {
        private readonly Dictionary<long, (long Number, int Length)> _items = [];
        private readonly SortedDictionary<long, long> _fixed = [];
        private readonly SortedDictionary<(byte Key, long Id), byte> _ids = [];
        private long _acknowledged;
        private long _newest;
        private long _at;

        /// <summary>Records that commits up to the first must be present, and up to the second may be.</summary>
        public void Acknowledge(long least, long most)
        {
            _acknowledged = Math.Max(_acknowledged, least);
            _newest = Math.Max(_newest, most);
        }

        public void Compare(SuiteRun run, string directory, int kill)
        {
            using var environment = StorageEnvironment.Open(directory, KillWorkload.Options());
            var isDropping = CountDropped(environment) > 0;
            run.Tally("openings that go on with a drop", isDropping ? 1 : 0);
            run.Tally(environment.Recovery.ReplayedRecords > 0 ? "openings that replay" : "openings that find everything in the data file");
            var newest = KillWorkload.Newest(environment);

            // Of two processes that were killed one after the other, each may have had commits under way.
            BrokenPromiseException.Require(
                newest >= _acknowledged && newest <= _newest + (2 * KillWorkload.MaxUnderWay),
                $"Kill {kill}: commit {_acknowledged} was acknowledged, and {newest} is the newest that was found.");
            run.Tally("commits", newest - _at);
            run.Tally("commits found though not acknowledged", newest - _acknowledged);
            _acknowledged = newest;
            _newest = newest;
            while (_at < newest)
                Follow(++_at);
            CompareItems(environment, kill);
            CompareFixed(environment, kill);
            CompareIds(environment, kill);
            var report = environment.Verify();
            BrokenPromiseException.Require(report.IsSound, $"Kill {kill}: {report}");
            if (isDropping)
                AwaitDrop(environment, kill);
        }

        // The opening goes on with what a killed drop has left.
        private static void AwaitDrop(StorageEnvironment environment, int kill)
        {
            for (var begun = Stopwatch.GetTimestamp(); CountDropped(environment) > 0; Thread.Sleep(1))
            {
                BrokenPromiseException.Require(
                    Stopwatch.GetElapsedTime(begun) < DropLimit, $"Kill {kill}: a dropped tree keeps its pages after the environment was opened.");
            }
            try
            {
                ContentCheck.Verify(environment);
            }
            catch (CrashViolationException e)
            {
                throw new BrokenPromiseException($"Kill {kill}: {e.Message}", e);
            }
        }

        private static int CountDropped(StorageEnvironment environment)
        {
            using var reading = environment.BeginRead();
            return reading.GetDroppedTrees().Count;
        }

        private void Follow(long number)
        {
            foreach ((var key, var length) in KillWorkload.Changes(number))
            {
                if (length < 0)
                    _items.Remove(key);
                else
                    _items[key] = (number, length);
            }

            foreach (var (key, id, isAdded) in KillWorkload.IdChanges(number))
            {
                if (isAdded)
                    _ids[(key, id)] = (byte)number;
                else
                    _ids.Remove((key, id));
            }

            foreach (var (first, last, isPut) in KillWorkload.FixedChanges(number))
            {
                for (var key = first; key <= last; key++)
                {
                    if (isPut)
                        _fixed[key] = number;
                    else
                        _fixed.Remove(key);
                }
            }
        }

        private void CompareIds(StorageEnvironment environment, int kill)
        {
            using var reading = environment.BeginRead();
            if (!reading.TryOpenIdTree(KillWorkload.IdsName, out var tree))
            {
                BrokenPromiseException.Require(_ids.Count == 0, $"Kill {kill}: the id tree is gone.");
                return;
            }

            foreach (var set in _ids.GroupBy(entry => entry.Key.Key))
            {
                using var ids = tree.OpenIds([set.Key]);
                foreach (var ((_, id), payload) in set)
                {
                    var isRight = ids.MoveNext() && ids.Id == id && ids.Payload == payload;
                    BrokenPromiseException.Require(isRight, $"Kill {kill}: set {set.Key} does not hold id {id} with the payload {payload}.");
                }
            }

            BrokenPromiseException.Require(
                tree.ValueCount == _ids.Count, $"Kill {kill}: the id tree counts {tree.ValueCount} ids, not {_ids.Count}.");
        }

        private void CompareFixed(StorageEnvironment environment, int kill)
        {
            using var reading = environment.BeginRead();
            if (!reading.TryOpenFixedTree(KillWorkload.FixedName, out var tree))
            {
                BrokenPromiseException.Require(_fixed.Count == 0, $"Kill {kill}: the fixed-size tree is gone.");
                return;
            }

            using var cursor = tree.OpenCursor();
            foreach (var (key, number) in _fixed)
            {
                var isRight = cursor.MoveNext() && cursor.Key == key
                    && cursor.Value.SequenceEqual(KillWorkload.Value(number, key, KillWorkload.FixedValueBytes));
                BrokenPromiseException.Require(isRight, $"Kill {kill}: key {key} of the fixed-size tree does not hold what commit {number} put there.");
            }

            BrokenPromiseException.Require(
                !cursor.MoveNext() && tree.Count == _fixed.Count, $"Kill {kill}: the fixed-size tree counts {tree.Count} entries, not {_fixed.Count}.");
        }

        private void CompareItems(StorageEnvironment environment, int kill)
        {
            using var reading = environment.BeginRead();
            if (!reading.TryOpenTree(KillWorkload.TreeName, out var tree))
            {
                BrokenPromiseException.Require(_items.Count == 0, $"Kill {kill}: the tree is gone.");
                return;
            }
            BrokenPromiseException.Require(tree.Count == _items.Count, $"Kill {kill}: {tree.Count} items are there, and {_items.Count} should be.");
            foreach (var entry in tree.GetEntries())
            {
                var key = BinaryPrimitives.ReadInt64BigEndian(entry.Key);
                var isRight = _items.TryGetValue(key, out var item)
                    && entry.Value.SequenceEqual(KillWorkload.Value(item.Number, key, item.Length));
                BrokenPromiseException.Require(isRight, $"Kill {kill}: key {key} does not hold what commit {item.Number} put there.");
            }
        }
    }
}
