using Voron.Format;
using Voron.Tests.ChangeTracking;
using Voron.Tests.Faults;

namespace Voron.Tool.Tests;

/// <summary>What <c>voron changes</c> says about the change log.</summary>
public sealed class ToolChangesTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task The_log_begins_with_a_base_and_grows_with_flushes()
    {
        await ToolRun.Done("put", Store, "t", "a", "1", "--create", "--write");
        var none = (await ToolRun.Done("changes", Store, "-o", "json")).Json;
        none.GetProperty("version").GetInt32().Should().Be(1);
        none.GetProperty("log").GetString().Should().Be("none");
        none.GetProperty("entries").GetArrayLength().Should().Be(0);

        var backup = (await ToolRun.Done("backup", Store, Path.Combine(_directory.Path, "full"), "--base", "-o", "json")).Json;
        await ToolRun.Done("put", Store, "t", "b", "2", "--write");
        var before = FaultTestKit.Bytes(Store);
        var log = (await ToolRun.Done("changes", Store, "-o", "json")).Json;
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(Store), before);
        log.GetProperty("log").GetString().Should().Be("complete");
        log.GetProperty("since").GetInt64().Should().Be(1);
        log.GetProperty("checkpointTransaction").GetInt64().Should().Be(2);
        var point = log.GetProperty("backups").EnumerateArray().Should().ContainSingle().Subject;
        point.GetProperty("backup").GetString().Should().Be(backup.GetProperty("id").GetString());
        point.GetProperty("transaction").GetInt64().Should().Be(1);
        point.GetProperty("canBeBuiltOn").GetBoolean().Should().BeTrue();
        var flush = log.GetProperty("entries").EnumerateArray().Last();
        flush.GetProperty("kind").GetString().Should().Be("flush");
        (flush.GetProperty("after").GetInt64(), flush.GetProperty("to").GetInt64()).Should().Be((1, 2));
        flush.GetProperty("pages").GetInt64().Should().BeGreaterThan(0);
        log.GetProperty("entries").EnumerateArray().Should().OnlyContain(entry => entry.GetProperty("counts").GetBoolean());
        (await ToolRun.Done("changes", Store)).Output.Should().Contain(backup.GetProperty("id").GetString());
    }

    [Fact]
    public async Task A_log_without_its_named_entry_is_lost()
    {
        var files = ChangeLogKit.FilesWithPoint(out var point);
        WriteFiles(files);
        var log = (await ToolRun.Done("changes", Store, "-o", "json")).Json;
        log.GetProperty("backups").EnumerateArray().Last().GetProperty("transaction").GetInt64().Should().Be(point.TransactionId);
        log.GetProperty("entries").GetArrayLength().Should().Be(4);

        // The header names the third entry. One behind it may be damaged.
        var name = files.Keys.Single(ChangeLogKit.IsLog);
        for (var entry = 3; entry >= 0; entry--)
        {
            var damaged = ChangeLogKit.Copy(files);
            damaged[name][entry * JournalFormat.Block + 60] ^= 1;
            WriteFiles(damaged);
            var run = await ToolRun.Of("changes", Store, "-o", "json");
            run.Code.Should().Be(entry == 3 ? ExitCode.Done : ExitCode.Problems, $"entry {entry}");
            run.Json.GetProperty("log").GetString().Should().Be(entry == 3 ? "complete" : "lost");
            if (entry < 3)
                run.Json.GetProperty("others")[0].GetProperty("entries").GetInt64().Should().Be(entry, "what can be read is shown");
            using var environment = StorageEnvironment.Open(Store);
            (environment.Internals.Engine.ChangedPages!.FindPoint(point.BackupId) != null)
                .Should().Be(false, "the point behind the named entry is damaged, or the log is");
        }

        var other = ChangeLogKit.Copy(files);
        ChangeLogKit.Rename(other, 123);
        WriteFiles(other);
        (await ToolRun.Of("changes", Store)).Code.Should().Be(ExitCode.Problems);
        other = ChangeLogKit.Copy(files);
        other.Remove(name);
        WriteFiles(other);
        var missing = await ToolRun.Of("changes", Store, "-o", "json");
        missing.Code.Should().Be(ExitCode.Problems);
        missing.Json.GetProperty("problem").GetString().Should().Contain("full");
    }

    [Fact]
    public async Task Random_damage_never_makes_the_command_fail()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var sound = ChangeLogKit.FilesWithPoint(out _);
        var name = sound.Keys.Single(ChangeLogKit.IsLog);
        for (var i = 0; i < 60; i++)
        {
            var files = ChangeLogKit.Copy(sound);
            for (var flips = random.Next(1, 10); flips > 0; flips--)
                files[name][random.Next(4 * JournalFormat.Block)] = (byte)random.Next(256);
            WriteFiles(files);
            var run = await ToolRun.Of("changes", Store, "-o", "json");
            run.Code.Should().BeOneOf([ExitCode.Done, ExitCode.Problems], $"seed {seed}, case {i}: {run.Error}");
        }
    }

    private void WriteFiles(SortedDictionary<string, byte[]> files)
    {
        if (Directory.Exists(Store))
            Directory.Delete(Store, recursive: true);
        Directory.CreateDirectory(Store);
        foreach (var (name, bytes) in files)
            File.WriteAllBytes(Path.Combine(Store, name), bytes);
    }
}
