using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.KillTarget;
using Voron.Paging;
using Voron.Simulation.Processes;
using Voron.Tests.Backup;

namespace Voron.Tests.Faults;

/// <summary>
/// Processes that are killed during a compaction to another directory, a salvage or a merge: the source is as it was, and what is in the target is
/// complete, or nothing takes it for an environment or a backup.
/// </summary>
public sealed class KilledOperationTests : IDisposable
{
    private const string Marker = "voron.backup.partial";
    private const string Part = "voron.compacted.partial";

    /// <summary>In microseconds, as the next one: about as long as an operation takes in a process that has just begun.</summary>
    private const int LongestFromBeginning = 500_000;

    private const int LongestFromMoment = 5_000;

    private readonly TemporaryDirectory _place = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    private string Target => Path.Combine(_place.Path, "target");

    /// <summary>The moments that the tests wait for, in their order; the time from one of them to the kill is random.</summary>
    private (string Name, Func<bool> HasCome)[] MomentsOfNewEnvironment =>
    [
        ("begun", () => true),
        ("marked", () => File.Exists(Path.Combine(Target, Marker))),
        ("being written", () => File.Exists(Path.Combine(Target, Part, DataFile.FileName))),
        ("being moved", () => File.Exists(Path.Combine(Target, DataFile.FileName))),
        ("complete", () => File.Exists(Path.Combine(Target, HeaderFile.FileName))),
    ];

    private (string Name, Func<bool> HasCome)[] MomentsOfMerge =>
    [
        ("begun", () => true),
        ("being written", () => Directory.EnumerateFiles(Source, "*.partial").Any()),
        ("named", () => Directory.GetFiles(Source, "full-*.vback").Length > 1),
    ];

    public void Dispose() => _place.Dispose();

    [Fact]
    public async Task A_killed_compaction_to_a_directory()
    {
        var random = new Random(TestSeed.Choose());
        var content = MakeSource(Source);
        var data = FaultTestKit.Bytes(Source)[DataFile.FileName];
        foreach (var moment in MomentsOfNewEnvironment)
        {
            var outcome = Kill(LongOperation.Compact, moment, random);
            FaultTestKit.Bytes(Source)[DataFile.FileName].AsSpan().SequenceEqual(data).Should().BeTrue("nothing was flushed, {0}", moment.Name);
            using (var source = StorageEnvironment.Open(Source, FaultTestKit.Options()))
            {
                source.Verify().Problems.Should().BeEmpty();
                BackupTestKit.ContentOf(source).Should().BeEquivalentTo(content);
                await CheckAndRepeat(outcome, content, async () => await source.CompactToAsync(Target, null, Token));
            }

            Directory.Delete(Target, recursive: true);
        }
    }

    [Fact]
    public async Task A_killed_salvage()
    {
        var random = new Random(TestSeed.Choose());
        MakeSource(Source);
        Damage();
        await Salvage.RunAsync(Source, Target, null, Token);
        var content = ContentOfTarget();
        Directory.Delete(Target, recursive: true);
        var files = AllBytes(Source);
        foreach (var moment in MomentsOfNewEnvironment)
        {
            var outcome = Kill(LongOperation.Salvage, moment, random);
            FaultTestKit.ShouldBeUnchanged(AllBytes(Source), files);
            await CheckAndRepeat(outcome, content, async () => await Salvage.RunAsync(Source, Target, null, Token));
            FaultTestKit.ShouldBeUnchanged(AllBytes(Source), files);
            Directory.Delete(Target, recursive: true);
        }
    }

    [Fact]
    public async Task A_killed_merge_of_a_set()
    {
        var random = new Random(TestSeed.Choose());
        var environment = Path.Combine(_place.Path, "environment");
        MakeSource(environment);
        var set = BackupSet.Open(Source);
        Dictionary<string, string> content;
        using (var opened = StorageEnvironment.Open(environment, FaultTestKit.Options()))
        {
            await set.BackupAsync(opened, BackupKind.Full, null, Token);
            for (var i = 0; i < 2; i++)
            {
                Put(opened, seed: 7_000 + i, from: 40 * i, count: 60);
                await set.BackupAsync(opened, BackupKind.Incremental, null, Token);
            }

            content = BackupTestKit.ContentOf(opened);
        }

        var files = AllBytes(Source);
        foreach (var moment in MomentsOfMerge)
        {
            var outcome = Kill(LongOperation.Merge, moment, random);
            CheckMerged(files, await set.ListAsync(Token), outcome);

            // The same call succeeds, and removes what the killed one has left.
            foreach (var made in AllBytes(Source).Keys.Except(files.Keys).Where(name => name.EndsWith(".vback", StringComparison.Ordinal)))
                File.Delete(Path.Combine(Source, made));
            var merged = await set.MergeAsync(Token);
            merged.IsFull.Should().BeTrue();
            var names = AllBytes(Source).Keys.Except(files.Keys).ToList();
            names.Should().ContainSingle().Which.Should().EndWith(".vback");
            await set.RestoreAsync(Target, null, null, Token);
            ContentOfTarget().Should().BeEquivalentTo(content);
            Directory.Delete(Target, recursive: true);
            File.Delete(Path.Combine(Source, names[0]));
            FaultTestKit.ShouldBeUnchanged(AllBytes(Source), files);
        }
    }

    // Returns a description of the kill, which ends with "returned" if the operation was faster.
    private string Kill(string operation, (string Name, Func<bool> HasCome) moment, Random random)
    {
        using var process = new OperationProcess(operation, Source, Target);
        var delay = random.Next(moment.Name == "begun" ? LongestFromBeginning : LongestFromMoment);
        process.Begin();
        TestWait.WorkUntil(() => moment.HasCome() || process.HasExited, static () => { }, moment.Name);
        var began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began).TotalMicroseconds < delay)
            Thread.SpinWait(20);
        var outcome = $"{operation} killed {delay} microseconds after it was {moment.Name}{(process.Kill() ? ", returned" : "")}";
        TestContext.Current.TestOutputHelper?.WriteLine(outcome);
        return outcome;
    }

    private async Task CheckAndRepeat(string kill, Dictionary<string, string> content, Func<Task> repeat)
    {
        var entries = Directory.Exists(Target) ? Directory.GetFileSystemEntries(Target) : [];
        TestContext.Current.TestOutputHelper?.WriteLine($"  {string.Join(", ", entries.Select(Path.GetFileName))}");
        if (entries.Length > 0)
        {
            var isComplete = File.Exists(Path.Combine(Target, HeaderFile.FileName));
            if (isComplete)
                ContentOfTarget().Should().BeEquivalentTo(content, kill);
            else
                CheckIsRefused(kill);
            (isComplete || !kill.EndsWith("returned", StringComparison.Ordinal)).Should().BeTrue(kill);
            var taken = await Assert.ThrowsAsync<BackupException>(repeat);
            taken.Fault.Should().Be(BackupFault.TargetNotEmpty);
            taken.Message.Should().Contain(Target).And.Contain("empty this one");
            Directory.Delete(Target, recursive: true);
        }

        await repeat();
        ContentOfTarget().Should().BeEquivalentTo(content, kill);
        Directory.GetFileSystemEntries(Target).Should().NotContain(entry => entry.EndsWith(".partial"));
    }

    private void CheckIsRefused(string kill)
    {
        var before = Directory.GetFileSystemEntries(Target, "*", SearchOption.AllDirectories);
        foreach (var mode in Enum.GetValues<OpenMode>())
        {
            var failure = Record.Exception(() => StorageEnvironment.Open(Target, new StorageOptions { OpenMode = mode }).Dispose());
            failure.Should().BeOfType<CorruptionException>($"{kill}, {mode}").Which.Message
                .Should().Contain(Target).And.Contain(Marker).And.Contain("Delete the content of the directory");
        }

        Directory.GetFileSystemEntries(Target, "*", SearchOption.AllDirectories).Should().BeEquivalentTo(before, kill);
    }

    // What has the name of a backup is one, and the others are as they were.
    private void CheckMerged(SortedDictionary<string, byte[]> before, IReadOnlyList<BackupSetEntry> entries, string kill)
    {
        var now = AllBytes(Source);
        TestContext.Current.TestOutputHelper?.WriteLine($"  {string.Join(", ", now.Keys.Except(before.Keys))}");
        foreach (var (name, bytes) in before)
            now[name].AsSpan().SequenceEqual(bytes).Should().BeTrue($"'{name}' must not have changed, {kill}");
        entries.Should().OnlyContain(entry => entry.Problem == null, kill);
        entries.Count.Should().BeInRange(before.Count, before.Count + 1, kill);
        (entries.Count > before.Count || !kill.EndsWith("returned", StringComparison.Ordinal)).Should().BeTrue(kill);
        foreach (var entry in entries)
            BackupFile.VerifyAsync(entry.File, Token).AsTask().GetAwaiter().GetResult().Bytes.Should().BePositive();
        now.Keys.Except(before.Keys).Where(name => !name.EndsWith(".partial", StringComparison.Ordinal))
            .Should().BeEquivalentTo(entries.Select(entry => Path.GetFileName(entry.File)).Except(before.Keys), kill);
    }

    private Dictionary<string, string> ContentOfTarget()
    {
        using var target = StorageEnvironment.Open(Target, new StorageOptions { OpenMode = OpenMode.OpenExisting });
        target.Verify().Problems.Should().BeEmpty();
        return BackupTestKit.ContentOf(target);
    }

    private static Dictionary<string, string> MakeSource(string directory)
    {
        using var environment = StorageEnvironment.Open(directory, FaultTestKit.Options());
        for (var from = 0; from < 400; from += 100)
            Put(environment, seed: from, from, count: 100);
        return BackupTestKit.ContentOf(environment);
    }

    private static void Put(StorageEnvironment environment, int seed, int from, int count) => environment.Write(writing =>
    {
        var tree = writing.CreateTree("t");
        for (var i = from; i < from + count; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(seed + i, i % 40 == 0 ? 300_000 : i % 10 == 0 ? 20_000 : 100 + i));
    });

    // A leaf is lost, so that the salvage searches all pages.
    private void Damage()
    {
        var file = Path.Combine(Source, DataFile.FileName);
        var data = File.ReadAllBytes(file);
        var leaf = Enumerable.Range(4, data.Length / 4096 - 4)
            .First(page => MemoryMarshal.Read<PageHeader>(data.AsSpan(page * 4096)) is { Kind: PageKind.Leaf, TreeMark: > 1 });
        data[leaf * 4096 + 3000] ^= 1;
        File.WriteAllBytes(file, data);
    }

    // Every file, the lock included.
    private static SortedDictionary<string, byte[]> AllBytes(string directory) => new(
        Directory.GetFiles(directory).ToDictionary(file => Path.GetFileName(file), File.ReadAllBytes), StringComparer.Ordinal);
}
