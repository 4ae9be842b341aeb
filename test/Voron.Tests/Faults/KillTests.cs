using System.Buffers.Binary;
using System.Diagnostics;
using Voron.KillTarget;

namespace Voron.Tests.Faults;

/// <summary>A process of its own writes, tells of each commit that was acknowledged, and is killed.</summary>
[Collection(nameof(KillTests))]
[CollectionDefinition(nameof(KillTests), DisableParallelization = true)]
public sealed class KillTests(ITestOutputHelper output)
{
    private const int Kills = 100;

    [Fact]
    public void A_process_killed_a_hundred_times_loses_nothing_that_it_acknowledged()
    {
        var seed = Environment.TickCount;
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        using var directory = new TemporaryDirectory();
        var model = new Dictionary<long, (long Number, int Length)>();
        var modelAt = 0L;
        long unacknowledged = 0, replayed = 0, flushed = 0;
        var start = Stopwatch.GetTimestamp();
        for (var kill = 0; kill < Kills; kill++)
        {
            using var target = new Target(directory.Path, modelAt + 1, "work");
            target.WaitUntilOpen();

            // A fresh process is slow: most are given the time to begin, some are killed in their first commit, or before.
            if (kill % 5 != 0)
                target.WaitForCommit();
            Thread.Sleep(random.Next(0, 100));
            var acknowledged = Math.Max(modelAt, target.KillAndReadLast());

            // A process that was killed has given up its lock when it is gone.
            var logger = new ListLogger();
            using var environment = StorageEnvironment.Open(directory.Path, FaultBench.Options(logger));
            replayed += logger.Entries.Any(entry => entry.Message.StartsWith("Replayed", StringComparison.Ordinal)) ? 1 : 0;
            flushed += environment.GetStatistics().CheckpointTransactionId > 0 ? 1 : 0;
            var newest = Newest(environment);
            if (newest < acknowledged || newest > acknowledged + 1)
                Assert.Fail($"Kill {kill}: commit {acknowledged} was acknowledged, and {newest} is the newest found.");
            unacknowledged += newest - acknowledged;
            for (; modelAt < newest; modelAt++)
                Follow(model, modelAt + 1);
            Compare(environment, model, kill);
            environment.Verify().Problems.Should().BeEmpty();
        }

        output.WriteLine(
            $"{Kills} kills in {Stopwatch.GetElapsedTime(start).TotalSeconds:F1} s: {modelAt} commits, {unacknowledged} of them found though " +
            $"not yet acknowledged; {replayed} openings replayed the journal, {flushed} found a checkpoint.");
        modelAt.Should().BeGreaterThan(Kills, "the process must have had time to work");
        replayed.Should().BeGreaterThan(Kills / 2);
    }

    [Fact]
    public void A_directory_that_another_process_has_open_is_refused_at_once()
    {
        using var directory = new TemporaryDirectory();
        using var target = new Target(directory.Path, 1, "hold");
        target.WaitUntilOpen();
        var start = Stopwatch.GetTimestamp();
        var open = () => StorageEnvironment.Open(directory.Path);
        open.Should().Throw<EnvironmentInUseException>().WithMessage($"*{directory.Path}*process {target.ProcessId}*");
        Stopwatch.GetElapsedTime(start).Should().BeLessThan(TimeSpan.FromSeconds(2));
        target.KillAndReadLast();
        using var environment = StorageEnvironment.Open(directory.Path);
        FaultBench.Put(environment, 1, [1]);
    }

    private static long Newest(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(KillWorkload.CounterName, out var tree) && tree.TryGet("newest"u8, out var value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;
    }

    private static void Follow(Dictionary<long, (long Number, int Length)> model, long number)
    {
        foreach (var (key, length) in KillWorkload.Changes(number))
        {
            if (length < 0)
                model.Remove(key);
            else
                model[key] = (number, length);
        }
    }

    private static void Compare(StorageEnvironment environment, Dictionary<long, (long Number, int Length)> model, int kill)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenTree(KillWorkload.TreeName, out var tree))
        {
            model.Should().BeEmpty();
            return;
        }

        tree.Count.Should().Be(model.Count);
        foreach (var entry in tree.GetEntries())
        {
            var key = BinaryPrimitives.ReadInt64BigEndian(entry.Key);
            var (number, length) = model[key];
            if (!entry.Value.SequenceEqual(KillWorkload.Value(number, key, length)))
                Assert.Fail($"Kill {kill}: key {key} does not hold what commit {number} put there.");
        }
    }

    /// <summary>The process that is killed.</summary>
    private sealed class Target : IDisposable
    {
        private readonly Process _process;
        private readonly Stream _output;
        private long _last;

        public Target(string directory, long first, string mode)
        {
            var start = new ProcessStartInfo("dotnet")
            {
                RedirectStandardOutput = true,
                UseShellExecute = false,
                Environment = { ["DOTNET_TieredPGO"] = "0", ["DOTNET_gcServer"] = "0" },
            };
            start.ArgumentList.Add(typeof(KillWorkload).Assembly.Location);
            start.ArgumentList.Add(directory);
            start.ArgumentList.Add(first.ToString(System.Globalization.CultureInfo.InvariantCulture));
            start.ArgumentList.Add(mode);
            _process = Process.Start(start)!;
            _output = _process.StandardOutput.BaseStream;
        }

        public int ProcessId => _process.Id;

        public void WaitUntilOpen() => ReadNumber().Should().Be(0, "the first thing said is that the environment is open");

        public void WaitForCommit() => _last = ReadNumber();

        /// <summary>Kills the process, and reads the last number that it wrote.</summary>
        public long KillAndReadLast()
        {
            _process.Kill();
            _process.WaitForExit();
            for (var number = ReadNumber(); number >= 0; number = ReadNumber())
                _last = number;
            return _last;
        }

        public void Dispose()
        {
            if (!_process.HasExited)
                KillAndReadLast();
            _process.Dispose();
        }

        private long ReadNumber()
        {
            var bytes = new byte[sizeof(long)];
            return _output.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false) == bytes.Length
                ? BinaryPrimitives.ReadInt64LittleEndian(bytes)
                : -1;
        }
    }
}
