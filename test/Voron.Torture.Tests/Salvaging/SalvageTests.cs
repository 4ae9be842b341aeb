using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Salvaging;
using Voron.Simulation.Disks;
using Voron.Tests.Backup;
using Voron.Tests.Faults;
using Voron.Torture.Salvaging;

namespace Voron.Torture.Tests.Salvaging;

/// <summary>Salvages of environments on disk: each file gone, pages damaged, and targets that cannot be used.</summary>
public sealed class SalvageTests : IDisposable
{
    private readonly TemporaryDirectory _place = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    private string Target => Path.Combine(_place.Path, "target");

    public void Dispose() => _place.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_sound_environment_comes_over_as_it_is(int version)
    {
        var expected = Make(version);
        var report = await Run();
        report.IsProven.Should().BeTrue();
        report.HasLosses.Should().BeFalse();
        report.DamageCount.Should().Be(0);
        report.Trees.Should().OnlyContain(tree => tree.Found == tree.Proven && tree.Found == tree.Expected);
        Content().Should().BeEquivalentTo(expected);
    }

    [Theory]
    [InlineData("voron.header")]
    [InlineData("journal-*")]
    [InlineData("voron.header;journal-*")]
    public async Task Header_and_journal_may_be_gone(string missing)
    {
        var expected = Make();
        foreach (var pattern in missing.Split(';'))
        {
            foreach (var file in Directory.GetFiles(Source, pattern))
                File.Delete(file);
        }

        var before = FaultTestKit.Bytes(Source);
        var report = await Run();
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(Source), before);
        report.DamageCount.Should().BePositive();
        Content().Should().BeEquivalentTo(expected);
    }

    [Theory]
    [InlineData("voron.data")]
    [InlineData("voron.data;voron.header")]
    [InlineData("voron.data;journal-*")]
    public async Task Without_the_data_file_nothing_is_left_of_a_closed_environment(string missing)
    {
        Make();
        foreach (var pattern in missing.Split(';'))
        {
            foreach (var file in Directory.GetFiles(Source, pattern))
                File.Delete(file);
        }

        await Fails<CorruptionException>("Nothing of the environment");
        Directory.GetFileSystemEntries(Target).Should().BeEmpty();
    }

    [Theory]
    [InlineData("voron.data")]
    [InlineData("voron.data;voron.header")]
    public async Task A_journal_from_the_beginning_is_enough(string missing)
    {
        var disk = new SimulatedDisk();
        Dictionary<string, string> expected;
        using (var environment = StorageEnvironment.Open(disk, BackupTestKit.Options()))
        {
            for (var i = 0; i < 50; i++)
                environment.Write(writing => writing.CreateTree("t").Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 200)));
            expected = BackupTestKit.ContentOf(environment);
            WriteFiles(FaultTestKit.Bytes(disk));
        }

        foreach (var file in missing.Split(';'))
            File.Delete(Path.Combine(Source, file));
        var report = await Run();
        report.HasLosses.Should().BeFalse();
        report.TransactionId.Should().Be(50);
        Content().Should().BeEquivalentTo(expected);
    }

    [Fact]
    public async Task What_was_committed_after_the_flush_comes_from_the_journal_without_a_header()
    {
        var disk = new SimulatedDisk();
        Dictionary<string, string> expected;
        using (var environment = StorageEnvironment.Open(disk, BackupTestKit.Options()))
        {
            environment.Write(writing => writing.CreateTree("t").Put("a"u8, FaultTestKit.Value(1, 9_000)));
            environment.Flush();
            environment.Write(writing => writing.OpenTree("t").Put("b"u8, FaultTestKit.Value(2, 40_000)));
            environment.Write(writing => writing.OpenTree("t").Put("c"u8, FaultTestKit.Value(3, 40)));
            expected = BackupTestKit.ContentOf(environment);
            WriteFiles(FaultTestKit.Bytes(disk));
        }

        File.Delete(Path.Combine(Source, HeaderFile.FileName));
        var report = await Run();
        report.IsProven.Should().BeTrue();
        report.TransactionId.Should().Be(3);
        report.Origin.Should().Contain("record of the last flush");
        Content().Should().BeEquivalentTo(expected);
    }

    [Fact]
    public async Task A_damaged_leaf_costs_its_own_entries()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, BackupTestKit.Options()))
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < 500; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 100));
            });
        }

        var files = FaultTestKit.Bytes(disk);
        var data = files[DataFile.FileName];
        var leaf = Enumerable.Range(4, data.Length / 4096 - 4)
            .First(page => MemoryMarshal.Read<PageHeader>(data.AsSpan(page * 4096)) is { Kind: PageKind.Leaf, TreeMark: > 1 });
        data[leaf * 4096 + 3000] ^= 1;
        WriteFiles(files);
        var report = await Run();
        var tree = report.Trees.Single();
        tree.Expected.Should().Be(500);
        tree.Proven.Should().BeInRange(460, 499);
        var lost = tree.LostRanges.Single();
        lost.Page.Should().Be(leaf);
        report.HasLosses.Should().BeTrue();
        var damage = report.Damage.Single();
        (damage.File, damage.Page, damage.Offset).Should().Be((DataFile.FileName, leaf, leaf * 4096L));
        damage.Expected.Should().NotBe(damage.Actual).And.HaveLength(16);
        Content().Should().HaveCount((int)tree.Proven);

        // Every missing key is in the range, and every other key is found.
        var keys = Content().Keys.Select(key => key["t/".Length..]).ToHashSet();
        for (var i = 0; i < 500; i++)
        {
            var key = FaultTestKit.Key(i);
            var isBelow = lost.Low != null && key.AsSpan().SequenceCompareTo(lost.Low) < 0;
            var isAbove = lost.High != null && key.AsSpan().SequenceCompareTo(lost.High) >= 0;
            keys.Contains(Encoding.ASCII.GetString(key)).Should().Be(isBelow || isAbove);
        }
    }

    [Fact]
    public async Task Reports_are_text_and_json()
    {
        Make();
        File.Delete(Path.Combine(Source, HeaderFile.FileName));
        var report = await Run();
        using var text = new StringWriter();
        report.WriteText(text);
        text.ToString().Should().Contain(Source).And.Contain("'t': ").And.Contain("is missing");
        using var json = new MemoryStream();
        report.WriteJson(json);
        using var document = JsonDocument.Parse(json.ToArray());
        var root = document.RootElement;
        root.GetProperty("version").GetInt32().Should().Be(1);
        root.GetProperty("entries").GetInt64().Should().Be(report.Entries);
        root.GetProperty("trees").GetArrayLength().Should().Be(report.Trees.Count);
        root.GetProperty("damage")[0].GetProperty("file").GetString().Should().Be(HeaderFile.FileName);
    }

    [Fact]
    public void What_the_device_cannot_read_is_lost_and_nothing_else()
    {
        using var disk = BackupTestKit.MakeEnvironment();
        disk.IsReadOnly = true;
        var pages = disk.Contents(DataFile.FileName).Length / 4096;
        var whole = Collect(disk, out var sound);
        sound.DamageCount.Should().Be(0);
        var lost = 0;
        for (var bad = 0; bad < pages; bad += bad < 40 ? 1 : 9)
        {
            var (first, end) = (bad * 4096L, (bad + 1) * 4096L);
            disk.FailNext(
                call => call is { Kind: DiskCallKind.Read, Name: DataFile.FileName } && call.Offset < end && call.Offset + call.Length > first,
                DiskError.Failed, forever: true);
            var found = Collect(disk, out var report);
            disk.ClearFaults();
            (whole - found).Should().BeLessThan(60, "page {0} has a leaf, or belongs to a value", bad);
            (whole - found == 0 || report.HasLosses).Should().BeTrue();
            lost += found < whole ? 1 : 0;
        }

        lost.Should().BeGreaterThan(10);
    }

    [Fact]
    public async Task Nothing_is_made_of_nothing()
    {
        await Fails<EnvironmentNotFoundException>("to salvage does not exist");
        Directory.CreateDirectory(Source);
        await Fails<EnvironmentNotFoundException>("no file of an environment");
        await File.WriteAllTextAsync(Path.Combine(Source, DataFile.FileName), new string('x', 100_000), Token);
        await Fails<CorruptionException>("Nothing can be salvaged");
        Directory.Exists(Target).Should().BeFalse();
    }

    [Fact]
    public async Task Targets_are_checked_before_anything_is_written()
    {
        Make();
        var inside = async () => await Salvage.RunAsync(Source, Path.Combine(Source, "new"), null, Token);
        await inside.Should().ThrowAsync<ArgumentException>();
        var same = async () => await Salvage.RunAsync(Source, Source, null, Token);
        await same.Should().ThrowAsync<ArgumentException>();
        Directory.CreateDirectory(Target);
        await File.WriteAllTextAsync(Path.Combine(Target, "mine"), "x", Token);
        (await Fails<BackupException>("contains 'mine'")).Fault.Should().Be(BackupFault.TargetNotEmpty);
        Directory.GetFileSystemEntries(Target).Should().HaveCount(1);
    }

    [Fact]
    public async Task A_source_that_is_open_for_writing_is_refused()
    {
        Make();
        using var environment = StorageEnvironment.Open(Source);
        await Fails<EnvironmentInUseException>("already open");
    }

    [Fact]
    public async Task A_file_that_appears_in_the_target_ends_the_salvage_and_stays()
    {
        Make();
        var mine = Path.Combine(Target, "voron.data", "mine");
        var options = new SalvageOptions { Progress = new SynchronousProgress<SalvageProgress>(_ => Directory.CreateDirectory(mine)) };
        var running = async () => await Salvage.RunAsync(Source, Target, options, Token);
        (await running.Should().ThrowAsync<StorageAccessException>()).WithMessage($"*{Source}*{Target}*");
        Directory.GetFileSystemEntries(Target).Should().ContainSingle().Which.Should().EndWith("voron.data");
        Directory.Exists(mine).Should().BeTrue();
    }

    [Fact]
    public async Task A_cancelled_salvage_leaves_nothing()
    {
        Make();
        using var stop = new CancellationTokenSource();
        var options = new SalvageOptions { Progress = new SynchronousProgress<SalvageProgress>(_ => stop.Cancel()) };
        var running = async () => await Salvage.RunAsync(Source, Target, options, stop.Token);
        await running.Should().ThrowAsync<OperationCanceledException>();
        Directory.GetFileSystemEntries(Target).Should().BeEmpty();
    }

    [Fact]
    public async Task An_exception_of_the_progress_ends_the_salvage()
    {
        Make();
        var options = new SalvageOptions { Progress = new SynchronousProgress<SalvageProgress>(_ => throw new InvalidOperationException("mine")) };
        var running = async () => await Salvage.RunAsync(Source, Target, options, Token);
        (await running.Should().ThrowAsync<InvalidOperationException>()).WithMessage("mine");
        Directory.GetFileSystemEntries(Target).Should().BeEmpty();
    }

    private static long Collect(SimulatedDisk disk, out SalvageReport report)
    {
        var target = new CollectedTrees();
        using var source = DamagedSource.Open(disk, Token);
        report = Salvage.ToReport(source, "", new SalvageRun(source, new SalvageOptions(), Token).Run(_ => target), 0);
        return report.Entries;
    }

    private async Task<SalvageReport> Run(SalvageOptions? options = null) => await Salvage.RunAsync(Source, Target, options, Token);

    private async Task<T> Fails<T>(string message)
        where T : Exception
    {
        var running = () => Run();
        return (await running.Should().ThrowAsync<T>().WithMessage($"*{message}*")).Which;
    }

    private Dictionary<string, string> Make(int version = 2)
    {
        using var disk = BackupTestKit.MakeEnvironment(version);
        WriteFiles(FaultTestKit.Bytes(disk));
        return BackupTestKit.ContentOf(disk);
    }

    private void WriteFiles(SortedDictionary<string, byte[]> files)
    {
        Directory.CreateDirectory(Source);
        foreach (var (name, bytes) in files)
            File.WriteAllBytes(Path.Combine(Source, name), bytes);
    }

    private Dictionary<string, string> Content()
    {
        using var environment = StorageEnvironment.Open(Target);
        environment.Verify().Problems.Should().BeEmpty();
        return BackupTestKit.ContentOf(environment);
    }
}
