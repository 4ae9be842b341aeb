using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using Voron.Format;
using Voron.Paging;

namespace Voron.Tool.Tests;

/// <summary>The worst day of an operator who has the tool alone: load, back up, change, kill, restore, compact, damage, salvage.</summary>
public sealed class ToolDrillTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Store => At("store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Nothing_is_lost_from_the_first_load_to_the_salvage()
    {
        await LoadAsync("a", 2_000);
        var set = At("set") + "/";
        await ToolRun.Done("backup", Store, set);
        for (var i = 0; i < 2; i++)
        {
            await LoadAsync($"b{i}", 50);
            await ToolRun.Done("delete", Store, "t", $"a{i:D6}", "--write");
            await ToolRun.Done("backup", Store, set);
        }

        var backedUp = await ScanAsync("store");
        backedUp.Should().HaveCount(2_098);
        await KillALoadAsync();
        await ToolRun.Done("verify", Store);
        (await ScanAsync("store")).Should().Contain(backedUp, "a load adds, and the kill loses no existing entry");

        await ToolRun.Done("restore", set, At("restored"));
        await ToolRun.Done("verify", At("restored"));
        (await ScanAsync("restored")).Should().Equal(backedUp);
        await ToolRun.Done("compact", At("restored"), "--write");
        (await ScanAsync("restored")).Should().Equal(backedUp);

        var page = await DamageALeafAsync();
        var salvage = await ToolRun.Of("salvage", At("restored"), At("salvaged"), "-o", "json");
        salvage.Code.Should().Be(ExitCode.Problems);
        salvage.Json.GetProperty("version").GetInt32().Should().Be(1);
        salvage.Json.GetProperty("damage")[0].GetProperty("page").GetInt32().Should().Be(page);
        await ToolRun.Done("verify", At("salvaged"));
        var left = await ScanAsync("salvaged");
        left.Should().HaveCountLessThan(backedUp.Length).And.HaveCountGreaterThan(backedUp.Length - 200).And.BeSubsetOf(backedUp);
    }

    [Fact]
    public async Task A_salvage_says_what_it_does()
    {
        await LoadAsync("a", 100);
        var run = await ToolRun.Done("salvage", Store, At("whole"));
        run.Output.Should().Contain("100 entries in 1 trees").And.Contain("Nothing is missing.");
        File.Delete(Path.Combine(Store, HeaderFile.FileName));
        run = await ToolRun.Of("salvage", Store, At("headless"));
        run.Code.Should().Be(ExitCode.Problems);
        run.Output.Should().Contain($"'{HeaderFile.FileName}' is missing");
        (await ScanAsync("headless")).Should().HaveCount(100);
        (await ToolRun.Of("salvage", Store, At("headless"))).Code.Should().Be(ExitCode.InUse, "nothing is overwritten");
        (await ToolRun.Of("salvage", Store, Path.Combine(Store, "new"))).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("salvage", At("nothing"), At("x"))).Code.Should().Be(ExitCode.NothingThere);
        Directory.Exists(At("x")).Should().BeFalse();
    }

    private async Task LoadAsync(string prefix, int count)
    {
        var dump = await WriteDumpAsync(prefix, count);
        await ToolRun.Done("load", Store, dump, "--write", "--resume");
    }

    // A dump is a second environment's content.
    private async Task<string> WriteDumpAsync(string prefix, int count)
    {
        var (source, file) = (At($"source-{prefix}"), At($"{prefix}.jsonl"));
        using (var environment = StorageEnvironment.Open(source))
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < count; i++)
                    tree.Put(Encoding.ASCII.GetBytes($"{prefix}{i:D6}"), Encoding.ASCII.GetBytes($"{prefix} has value {i}"));
            });
        }

        await ToolRun.Of("dump", source, "--file", file);
        return file;
    }

    private async Task KillALoadAsync()
    {
        var dump = await WriteDumpAsync("z", 300_000);
        var before = SizeOf(Store);
        string[] arguments = [typeof(ToolException).Assembly.Location, "load", Store, dump, "--write", "--resume"];
        using var process = Process.Start(new ProcessStartInfo("dotnet", arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        await TestWait.UntilAsync(() => process.HasExited || SizeOf(Store) > before);
        process.Kill();
        await process.WaitForExitAsync(Token).WaitAsync(TestWait.Limit, Token);
    }

    private static long SizeOf(string directory) => new DirectoryInfo(directory).GetFiles().Sum(file => file.Length);

    private async Task<string[]> ScanAsync(string name) => (await ToolRun.Done("scan", At(name), "t", "--limit", "0", "-o", "json")).Lines;

    // A leaf in use: others may be left from before the compaction.
    private async Task<int> DamageALeafAsync()
    {
        var file = Path.Combine(At("restored"), DataFile.FileName);
        var bytes = await File.ReadAllBytesAsync(file, Token);
        for (var page = bytes.Length / 4096 - 1; ; page--)
        {
            var header = MemoryMarshal.Read<PageHeader>(bytes.AsSpan(page * 4096));
            if (header.PageNumber != page || header is not { Kind: PageKind.Leaf, TreeMark: > 1 })
                continue;
            bytes[page * 4096 + 100] ^= 0x10;
            await File.WriteAllBytesAsync(file, bytes, Token);
            if ((await ToolRun.Of("verify", At("restored"))).Code == ExitCode.Problems)
                return page;
            bytes[page * 4096 + 100] ^= 0x10;
        }
    }

    private string At(string name) => Path.Combine(_directory.Path, name);
}
