using System.Diagnostics;
using System.Text;
using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Options;

/// <summary>
/// Works with options at their limits: the content must be right, and the work must never be slower than <see cref="Floor"/>.
/// </summary>
internal sealed class OptionsRun(SuiteRun run)
{
    /// <summary>
    /// The number of commits a second that any options have to allow, in memory and on a crowded machine. Writers that are slowed make one.
    /// </summary>
    public const int Floor = 4;

    /// <summary>The same on real files: other processes may be using the device.</summary>
    public const int FloorOnFiles = 2;

    private const string TreeName = "t";
    private const int Commits = 40;
    private const int Operations = 12;

    /// <summary>Journal limits up to this value are reached, several times over.</summary>
    private const long MaxReached = 8 << 20;

    /// <summary>Below the shortest length of a large value.</summary>
    private const int LongestJournaled = 12_000;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly SortedDictionary<int, byte[]> _expected = [];
    private int _next;
    private int _floor;
    private long _bytesOfCommit;

    /// <summary>Whether the environment was on real files.</summary>
    public bool IsOnFiles { get; private set; }

    /// <summary>Whether the commits have written more than the journal may hold.</summary>
    public bool ReachesLimit { get; private set; }

    /// <returns>False if the options do not fit together.</returns>
    public bool Run()
    {
        var options = OptionLimits.Draw(run);
        try
        {
            options.Validate();
        }
        catch (ArgumentException e)
        {
            run.Report($"refused: {e.Message}");
            return false;
        }
        IsOnFiles = run.Choices.Next(4) == 3;
        run.Report(IsOnFiles ? "on files" : "in memory");
        _floor = IsOnFiles ? FloorOnFiles : Floor;
        using var place = new ModelPlace(inMemory: !IsOnFiles);
        using (var environment = place.Open(options))
        {
            ReachesLimit = options.JournalLimitBytes <= MaxReached;
            _bytesOfCommit = ReachesLimit ? Math.Min(4 * options.JournalLimitBytes / Commits, MaxOfCommit(options)) : 0;
            Commit(environment, "commits");
            RunGroupCommit(environment, options);
            PutLarge(environment);
            CommitBesideReader(environment, options);
            Delete(environment, options);
            environment.Flush();
            environment.ReclaimSpace();
            Commit(environment, "commits after space was returned");
            Check(environment);
        }
        using (var again = place.Open(new StorageOptions { BackgroundFlush = false }))
            Check(again);
        return true;
    }

    // Each value may change pages of its own.
    private static long MaxOfCommit(StorageOptions options) =>
        Math.Min(options.MaxTransactionBytes / 8, options.MaxTransactionBytes / options.PageSizeOrDefault / 4 * LongestJournaled);

    private void Commit(StorageEnvironment environment, string what, int commits = Commits)
    {
        run.Report(what);
        var most = (double)Commits / _floor;
        var start = Stopwatch.GetTimestamp();
        for (var i = 0; i < commits; i++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(TreeName);
            Put(tree, run.Choices.Next(300, 1200));
            for (var more = _bytesOfCommit; more > 0; more -= LongestJournaled)
                Put(tree, (int)Math.Min(Math.Max(more, 300), LongestJournaled));
            writing.Commit();
            var took = Stopwatch.GetElapsedTime(start);
            BrokenPromiseException.Require(
                took.TotalSeconds < most, $"{i + 1} of {commits} {what} took {took.TotalSeconds:F1} s, where {most} s are allowed for all.");
        }
    }

    // Each operation fits alone, even if only a few fit together.
    private void RunGroupCommit(StorageEnvironment environment, StorageOptions options)
    {
        run.Report("operations that fit alone, in a group commit");
        var pages = Math.Min(options.MaxTransactionBytes / options.PageSizeOrDefault / 4, 100);
        var entries = new List<(int Key, byte[] Value)>[Operations];
        var largest = new long[Operations];
        Task[] tasks;
        using (environment.BeginWrite())
        {
            tasks = [.. Enumerable.Range(0, Operations).Select(i =>
            {
                entries[i] = [];
                for (var entry = 0; entry < Math.Max(pages / 2, 1); entry++)
                    entries[i].Add((_next++, Value(1500)));
                return environment.WriteAsync(writing =>
                {
                    largest[i] = writing.Body.WritePages.ChangedBytes;
                    var tree = writing.CreateTree(TreeName);
                    foreach ((var key, var value) in entries[i])
                        tree.Put(Key(key), value);
                }).AsTask();
            })];
        }
        var areAnswered = Task.WhenAll(tasks).ContinueWith(_ => { }, TaskScheduler.Default).Wait(Patience);
        BrokenPromiseException.Require(areAnswered, "Operations of a group commit are not answered.");
        for (var i = 0; i < Operations; i++)
        {
            BrokenPromiseException.Require(
                tasks[i].IsCompletedSuccessfully, $"Operation {i} of {Operations} fits alone, and failed: {tasks[i].Exception?.InnerException?.Message}");
            BrokenPromiseException.Require(
                largest[i] < options.MaxGroupCommitBytes,
                $"Operation {i} ran in a transaction that had changed {largest[i]} bytes, and MaxGroupCommitBytes is {options.MaxGroupCommitBytes}.");
            foreach ((var key, var value) in entries[i])
                _expected[key] = value;
        }
    }

    private void PutLarge(StorageEnvironment environment)
    {
        run.Report("large values");
        foreach (var length in (int[])[16_383, 16_384, 16_385, 65_536, run.Choices.Next(20_000, 150_000)])
        {
            using var writing = environment.BeginWrite();
            Put(writing.OpenTree(TreeName), length);
            writing.Commit();
        }
    }

    private void CommitBesideReader(StorageEnvironment environment, StorageOptions options)
    {
        // The versions that the reader holds have to stay below the limit of page versions, at which writers are slowed until the reader
        // ends: pages that it could read from memory when it began, and those that commits change meanwhile.
        environment.Flush();
        var commits = (int)Math.Clamp(options.ScratchLimitBytes / options.PageSizeOrDefault / 8, 1, Commits);
        _bytesOfCommit = Math.Min(_bytesOfCommit, options.ScratchLimitBytes / 8 / commits);
        using var reading = environment.BeginRead();
        var before = _expected.Count;
        Commit(environment, "commits beside a reader", commits);
        environment.Flush();
        BrokenPromiseException.Require(reading.OpenTree(TreeName).Count == before, "A snapshot has changed.");
    }

    private void Delete(StorageEnvironment environment, StorageOptions options)
    {
        run.Report("delete");
        var most = (int)Math.Min(60, options.MaxTransactionBytes / options.PageSizeOrDefault / 4);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(TreeName);
        foreach (var key in _expected.Keys.Where(key => key % 3 > 0).Take(most).ToList())
        {
            BrokenPromiseException.Require(tree.Delete(Key(key)), $"Key {key} is missing.");
            _expected.Remove(key);
        }
        writing.Commit();
    }

    private void Check(StorageEnvironment environment)
    {
        run.Report("check");
        using (var reading = environment.BeginRead())
        {
            var tree = reading.OpenTree(TreeName);
            BrokenPromiseException.Require(tree.Count == _expected.Count, $"There are {tree.Count} entries, and should be {_expected.Count}.");
            foreach ((var key, var expected) in _expected)
            {
                BrokenPromiseException.Require(
                    tree.TryGet(Key(key), out var value) && value.SequenceEqual(expected), $"Key {key} has another value.");
            }
        }
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, report.ToString());
        BrokenPromiseException.Require(!environment.GetStatistics().IsPoisoned, "The environment is poisoned.");
    }

    private void Put(WriteTree tree, int length)
    {
        var value = Value(length);
        tree.Put(Key(_next), value);
        _expected[_next++] = value;
    }

    private byte[] Value(int length)
    {
        var value = new byte[length];
        new Random(run.Choices.Next()).NextBytes(value.AsSpan(0, length / 2));
        return value;
    }

    private static byte[] Key(int number) => Encoding.ASCII.GetBytes($"{number * 7919 % 100_003:D6}");
}
