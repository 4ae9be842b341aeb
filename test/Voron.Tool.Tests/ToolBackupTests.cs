using System.Text;

namespace Voron.Tool.Tests;

/// <summary>Backups by the tool: files, sets, copies, and what goes wrong with them.</summary>
public sealed class ToolBackupTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_backup_file_is_verified_and_restored()
    {
        Put("a", 300);
        var report = (await ToolRun.Done("backup", Store, At("one.vback"), "--note", "before the move", "-o", "json")).Json;
        report.GetProperty("canBeBuiltOn").GetBoolean().Should().BeFalse();
        report.GetProperty("bytes").GetInt64().Should().BePositive();
        await ToolRun.Done("backup", "verify", At("one.vback"));
        var restored = (await ToolRun.Done("restore", At("one.vback"), At("restored"), "-o", "json")).Json;
        restored.GetProperty("entries").GetInt64().Should().Be(300);
        var expected = await ToolRun.Done("scan", Store, "t", "--limit", "0");
        (await ToolRun.Done("scan", At("restored"), "t", "--limit", "0")).Output.Should().Be(expected.Output);

        (await ToolRun.Of("backup", Store, At("one.vback"))).Code.Should().Be(ExitCode.InUse, "nothing is overwritten");
        (await ToolRun.Of("restore", At("one.vback"), At("restored"))).Code.Should().Be(ExitCode.InUse);
    }

    [Fact]
    public async Task Incremental_backups_follow_their_base()
    {
        Put("a", 200);
        var first = (await ToolRun.Done("backup", Store, At("1"), "--base", "-o", "json")).Json;
        first.GetProperty("canBeBuiltOn").GetBoolean().Should().BeTrue();
        Put("b", 50);
        var id = first.GetProperty("id").GetString()!;
        var second = (await ToolRun.Done("backup", Store, At("2"), "--since", id, "-o", "json")).Json;
        second.GetProperty("parent").GetString().Should().Be(id);
        await ToolRun.Done("restore", At("1"), At("r"), "--then", At("2"));
        (await ToolRun.Done("scan", At("r"), "t", "--limit", "0")).Lines.Should().HaveCount(250);
        (await ToolRun.Of("restore", At("2"), At("r2"))).Code.Should().Be(ExitCode.TargetNotReached, "its base is missing");
        (await ToolRun.Of("backup", Store, At("3"), "--since", Guid.AllBitsSet.ToString())).Code.Should().Be(ExitCode.TargetNotReached);
        File.Exists(At("3")).Should().BeFalse();
    }

    [Fact]
    public async Task A_set_is_listed_merged_pruned_and_restored()
    {
        var set = At("set") + "/";
        Put("a", 200);
        await ToolRun.Done("backup", Store, set);
        Put("b", 20);
        await ToolRun.Done("backup", Store, set, "--note", "before the upgrade");
        File.Move(Directory.GetFiles(set, "full-*").Single(), At("elsewhere"));
        (await ToolRun.Of("backup", "list", set)).Code.Should().Be(ExitCode.Problems);
        (await ToolRun.Of("backup", "verify", set)).Code.Should().Be(ExitCode.TargetNotReached, "an incremental backup needs its base");
        File.Move(At("elsewhere"), Path.Combine(set, "full-again.vback"));
        var list = (await ToolRun.Done("backup", "list", set, "-o", "json")).Json.GetProperty("backups");
        list.EnumerateArray().Select(backup => backup.GetProperty("filesNeeded").GetInt32()).Should().Equal(1, 2);
        list.EnumerateArray().Select(backup => backup.GetProperty("note").GetString()).Should().Equal(null, "before the upgrade");
        await ToolRun.Done("backup", "verify", set);
        await ToolRun.Done("restore", set, At("newest"));
        (await ToolRun.Done("scan", At("newest"), "t", "--limit", "0")).Lines.Should().HaveCount(220);
        var beforeAll = await ToolRun.Of("restore", set, At("older"), "--time", "2001-01-01T00:00:00Z");
        beforeAll.Code.Should().Be(ExitCode.TargetNotReached);

        // The time of the first backup, as a person reads it and as a program does.
        var times = list.EnumerateArray().Select(backup => backup.GetProperty("time").GetDateTimeOffset()).ToList();
        var shown = times[0].ToString("yyyy-MM-dd HH:mm:ss.fffffff 'UTC'", System.Globalization.CultureInfo.InvariantCulture);
        (await ToolRun.Done("backup", "list", set)).Output.Should().Contain(shown);
        foreach (var (name, time) in new[] { ("a", shown), ("b", times[0].ToString("O")) })
        {
            await ToolRun.Done("restore", set, At(name), "--time", time);
            (await ToolRun.Done("scan", At(name), "t", "--limit", "0")).Lines.Should().HaveCount(200);
        }

        await ToolRun.Done("backup", "merge", set);
        var dry = (await ToolRun.Done("backup", "prune", set, "--keep-full", "1", "--dry-run", "-o", "json")).Json.GetProperty("deleted");
        dry.GetArrayLength().Should().BePositive();
        Directory.GetFiles(set, "*.vback").Should().HaveCount(3);
        await ToolRun.Done("backup", "prune", set, "--keep-full", "1");
        Directory.GetFiles(set, "*.vback").Should().HaveCount(3 - dry.GetArrayLength());
        await ToolRun.Done("restore", set, At("merged"));
        (await ToolRun.Done("scan", At("merged"), "t", "--limit", "0")).Lines.Should().HaveCount(220);
    }

    [Fact]
    public async Task Damage_in_a_backup_is_found()
    {
        Put("a", 300);
        await ToolRun.Done("backup", Store, At("whole"));
        var bytes = File.ReadAllBytes(At("whole"));
        bytes[bytes.Length / 2] ^= 1;
        File.WriteAllBytes(At("damaged"), bytes);
        var run = await ToolRun.Of("backup", "verify", At("damaged"));
        run.Code.Should().Be(ExitCode.Damaged);
        (run.Output + run.Error).Should().Contain("damaged");
        (await ToolRun.Of("restore", At("damaged"), At("r"))).Code.Should().Be(ExitCode.Damaged);
        File.WriteAllText(At("foreign"), "something else");
        (await ToolRun.Of("backup", "verify", At("foreign"))).Code.Should().BeOneOf(ExitCode.Damaged, ExitCode.OtherFormat);
        (await ToolRun.Of("backup", "verify", At("missing"))).Code.Should().Be(ExitCode.NothingThere);
    }

    [Fact]
    public async Task A_directory_without_backups_is_no_set()
    {
        Put("a", 1);
        foreach (var directory in (string[])[At("missing"), Store])
        {
            foreach (var command in (string[][])[["list"], ["verify"], ["merge"], ["prune", "--keep-full", "1"]])
                (await ToolRun.Of(["backup", .. command, directory])).Code.Should().Be(ExitCode.NothingThere, $"{command[0]} {directory}");
        }

        Directory.Exists(At("missing")).Should().BeFalse();
        (await ToolRun.Of("backup", Store, Store)).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("backup", Store, Path.Combine(Store, "b.vback"))).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("copy", Store, Path.Combine(Store, "b"))).Code.Should().Be(ExitCode.Usage);
    }

    [Fact]
    public async Task A_copy_is_an_environment()
    {
        Put("a", 100);
        await ToolRun.Done("copy", Store, At("copy"));
        await ToolRun.Done("verify", At("copy"));
        (await ToolRun.Of("copy", Store, At("copy"))).Code.Should().Be(ExitCode.InUse);
    }

    [Theory]
    [InlineData("backup {store} {set}/ --since 11111111-1111-1111-1111-111111111111", "--since")]
    [InlineData("backup {store} {set}.vback --full", "--full")]
    [InlineData("backup {store} {set}.vback --rate -1", "negative")]
    [InlineData("restore {set}.vback {set}2 --time 2026-01-01", "--time")]
    [InlineData("restore - {set}2 --then x", "--then")]
    [InlineData("restore {store} {set}2 --time junk", "'junk' is no time")]
    [InlineData("restore {store} {set}2 --time", "--time")]
    [InlineData("backup {store} {set}.vback --rate junk", "junk")]
    [InlineData("backup {store} {set}.vback --since junk", "junk")]
    [InlineData("backup prune {store} --keep-full 0", "--keep-full")]
    [InlineData("backup prune {store} --keep-full 1 --keep-days 1e300", "--keep-days")]
    [InlineData("scan {store} t --limit 99999999999999999999", "99999999999999999999")]
    public async Task Options_that_do_not_go_together_are_refused(string line, string message)
    {
        Put("a", 1);
        line = line.Replace("{store}", Store, StringComparison.Ordinal).Replace("{set}", At("s"), StringComparison.Ordinal);
        var run = await ToolRun.Of(line.Split(' '));
        run.Code.Should().Be(ExitCode.Usage);
        run.Error.Should().Contain(message);
        Directory.GetFileSystemEntries(_directory.Path).Should().Equal(Store);
    }

    private string At(string name) => Path.Combine(_directory.Path, name);

    private void Put(string prefix, int entries)
    {
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < entries; i++)
                tree.Put(Encoding.UTF8.GetBytes($"{prefix}{i:D5}"), Encoding.UTF8.GetBytes($"value {i}"));
        });
    }
}
