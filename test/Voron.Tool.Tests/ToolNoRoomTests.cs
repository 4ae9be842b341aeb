using System.Text;
using Voron.Simulation.Disks;

namespace Voron.Tool.Tests;

/// <summary>
/// Every command that writes, on a volume that has no room for its result: it ends with exit code 6, names the file on standard error, leaves nothing
/// half made, and succeeds when there is room.
/// </summary>
public sealed class ToolNoRoomTests : IClassFixture<ToolNoRoomTests.Place>
{
    private const int Entries = 300;

    // A small tree, and one that is loaded in bulk.
    private const int ShortTreeEntries = 10;
    private const int LongTreeEntries = 20;

    private static readonly string Value = new('v', 500_000);

    private readonly Place _place;
    private readonly LoopVolume _volume;

    public ToolNoRoomTests(Place place)
    {
        Assert.SkipWhen(place.Volume == null, $"There is no volume of a chosen size: {place.Reason}");
        (_place, _volume) = (place, place.Volume);
        foreach (var file in Directory.GetFiles(_volume.Path))
            File.Delete(file);
        foreach (var directory in Directory.GetDirectories(_volume.Path).Where(path => Path.GetFileName(path) != "lost+found"))
            Directory.Delete(directory, recursive: true);
    }

    [Theory]
    [InlineData("backup STORE NEW")]
    [InlineData("backup STORE NEW --no-compression")]
    [InlineData("dump STORE --file NEW")]
    [InlineData("dump STORE --file NEW --format mdb")]
    [InlineData("stats STORE --html NEW")]
    public async Task A_file_is_whole_or_not_there(string line)
    {
        var target = At("new");
        foreach (var room in new[] { 0, 4 << 10, 1 << 20 })
        {
            if (room < 1 << 20 || !line.StartsWith("stats", StringComparison.Ordinal))
                await ShouldFindNoRoomAsync(room, line, target);
        }

        if (line.EndsWith("--no-compression", StringComparison.Ordinal))
            await ShouldFindNoRoomAsync(0, line, target, "it needs at least ", "only 0 free");

        await ShouldSucceedAsync(line);
        if (line.StartsWith("backup", StringComparison.Ordinal))
            await ToolRun.Done("backup", "verify", target);
        else if (line.StartsWith("stats", StringComparison.Ordinal))
            File.ReadAllText(target).Should().EndWith("</html>\n");
        else
            await ToolRun.Done("load", At("loaded"), target, "--write");
    }

    [Theory]
    [InlineData("copy STORE NEW", true)]
    [InlineData("compact STORE --to NEW", false)]
    [InlineData("salvage STORE NEW", false)]
    [InlineData("restore FULL NEW", true)]
    [InlineData("restore FULL NEW --then NEXT", true)]
    [InlineData("restore SET NEW", true)]
    public async Task A_new_environment_is_whole_or_not_there(string line, bool knowsNeed)
    {
        var target = At("new");
        foreach (var room in new[] { 0, 4 << 10, 300 << 10, 2 << 20 })
        {
            string[] numbers = knowsNeed && room > 0 ? [" bytes are needed, and 0 are available"] : [];
            await ShouldFindNoRoomAsync(room, line, [target, .. numbers]);
            (Directory.Exists(target) ? Directory.GetFileSystemEntries(target) : []).Should().BeEmpty($"of {room} bytes");
        }

        await ShouldSucceedAsync(line);
        await ShouldHaveAsync(target, line == "restore FULL NEW" ? Entries / 2 : Entries);
    }

    [Fact]
    public async Task A_set_has_whole_backups_only()
    {
        CopySet();
        foreach (var line in (string[])["backup merge NEWSET", "backup STORE NEWSET", "backup STORE NEWSET --full"])
        {
            foreach (var room in new[] { 0, 4 << 10 })
                await ShouldFindNoRoomAsync(room, line, At("set"), ".vback");
            await ShouldSucceedAsync(line);
            await ToolRun.Done("backup", "verify", At("set"));
        }

        Directory.Delete(At("set"), recursive: true);
        await ShouldFindNoRoomAsync(0, "backup STORE NEWSET", At("set"));
        await ShouldSucceedAsync("backup STORE NEWSET");
        await ToolRun.Done("restore", At("set"), At("new"));
        await ShouldHaveAsync(At("new"), Entries);
    }

    /// <summary>The environment stays with the trees that were committed, each of them whole, and --resume continues.</summary>
    [Fact]
    public async Task A_load_can_be_resumed_when_there_is_room()
    {
        foreach (var room in new[] { 0, 4 << 10, 300 << 10, 1 << 20, 22 << 20 })
        {
            var filler = _volume.Fill(room);
            var run = await ToolRun.Of(Words("load NEW LONG --write"));
            ShouldSayNoRoom(run, room, At("new"));
            File.Delete(filler);
            var exists = StorageEnvironment.Exists(At("new"));
            if (!exists)
            {
                room.Should().BeLessThan(1 << 20);
                Files().Should().BeEmpty();
                continue;
            }

            var loaded = (await ToolRun.Done("verify", At("new"), "-o", "json")).Json.GetProperty("entries").GetInt64();
            loaded.Should().Be(room > 16 << 20 ? ShortTreeEntries : 0);
            if (loaded > 0)
                run.Error.Should().Contain($" {loaded} entries were loaded");
            var resumed = await ToolRun.Done([.. Words("load NEW LONG --write --resume"), "-o", "json"]);
            resumed.Json.GetProperty("entries").GetInt64().Should().Be(ShortTreeEntries + LongTreeEntries - loaded);
            await ShouldHaveAsync(At("new"), ShortTreeEntries + LongTreeEntries);
            Directory.Delete(At("new"), recursive: true);
        }

        await ToolRun.Done(Words("load NEW LONG --write"));
        await ShouldHaveAsync(At("new"), ShortTreeEntries + LongTreeEntries);
    }

    [Theory]
    [InlineData("put NEW t new VALUE --write")]
    [InlineData("delete NEW t k001 --write")]
    [InlineData("compact NEW --write")]
    public async Task An_environment_is_as_it_was(string line)
    {
        await ToolRun.Done("copy", _place.Store, At("new"));
        var entries = line.StartsWith("compact", StringComparison.Ordinal) ? MakeHoles() : Entries;
        foreach (var room in new[] { 0, 4 << 10 })
        {
            var filler = _volume.Fill(room);
            ShouldSayNoRoom(await ToolRun.Of(Words(line)), room, At("new"));
            File.Delete(filler);
            await ShouldHaveAsync(At("new"), entries);
        }

        await ShouldSucceedAsync(line);
        await ShouldHaveAsync(At("new"), line[0] switch { 'p' => entries + 1, 'd' => entries - 1, _ => entries });
    }

    [Fact]
    public async Task A_new_environment_for_a_value_has_it_or_is_empty()
    {
        foreach (var room in new[] { 0, 4 << 10, 300 << 10 })
        {
            var filler = _volume.Fill(room);
            ShouldSayNoRoom(await ToolRun.Of(Words("put NEW t new VALUE --write --create")), room, At("new"));
            File.Delete(filler);
            if (StorageEnvironment.Exists(At("new")))
                await ShouldHaveAsync(At("new"), 0);
            else
                Files().Should().BeEmpty();
        }

        await ShouldSucceedAsync("put NEW t new VALUE --write --create");
        await ShouldHaveAsync(At("new"), 1);
    }

    [Fact]
    public async Task A_line_of_the_shell_fails_and_the_next_one_runs()
    {
        await ToolRun.Done("copy", _place.Store, At("new"));
        using var process = ToolProcess.Start("shell", At("new"), "--write");
        await TypeAsync(process, "put t small 1\nget t small\n");
        process.Output.ReadByte().Should().Be('1');
        process.Output.ReadByte().Should().Be('\n');
        var filler = _volume.Fill(0);
        await TypeAsync(process, $"put t new {Value}\nget t small\n");
        process.Output.ReadByte().Should().Be('1');
        process.Output.ReadByte().Should().Be('\n');
        File.Delete(filler);
        await TypeAsync(process, $"put t other {Value}\n");
        process.Input.Close();
        ShouldSayNoRoom(await process.EndAsync(), 0, At("new"));
        await ShouldHaveAsync(At("new"), Entries + 2);
    }

    /// <summary>Standard input is copied to a temporary file before it is loaded.</summary>
    [Fact]
    public async Task The_temporary_file_of_a_load_is_named_and_not_left()
    {
        var target = _place.Dump + "-loaded";
        foreach (var room in new[] { 0, 1 << 20 })
        {
            var filler = _volume.Fill(room);
            using (var process = ToolProcess.StartScript($"cat '{_place.Dump}' 2>/dev/null | TMPDIR='{_volume.Path}' $VORON load '{target}' - --write"))
                ShouldSayNoRoom(await process.EndAsync(), room, _volume.Path, "standard input", "TMPDIR");
            File.Delete(filler);
            Files().Should().BeEmpty();
            Directory.Exists(target).Should().BeFalse();
        }

        using (var process = ToolProcess.StartScript($"TMPDIR='{_volume.Path}' $VORON load '{target}' - --write <'{_place.Dump}'"))
            (await process.EndAsync()).Code.Should().Be(ExitCode.Done);
        Files().Should().BeEmpty();
        await ShouldHaveAsync(target, Entries);
        Directory.Delete(target, recursive: true);
    }

    /// <summary>A restore reads standard input as it comes, without a temporary file.</summary>
    [Fact]
    public async Task A_restore_from_standard_input_leaves_nothing()
    {
        var filler = _volume.Fill(1 << 20);
        var line = $"TMPDIR='{_volume.Path}' $VORON restore - '{At("new")}' <'{_place.Full}'";
        using (var process = ToolProcess.StartScript(line))
            ShouldSayNoRoom(await process.EndAsync(), 1 << 20, At("new"));
        File.Delete(filler);
        Files().Should().BeEmpty();
        using (var process = ToolProcess.StartScript(line))
            (await process.EndAsync()).Code.Should().Be(ExitCode.Done);
        await ShouldHaveAsync(At("new"), Entries / 2);
    }

    [Fact]
    public async Task Standard_output_is_named()
    {
        foreach (var line in (string[])["dump", "backup", "trees"])
        {
            using var process = ToolProcess.StartScript($"$VORON {line} '{_place.Store}' {(line == "backup" ? "-" : "")} >/dev/full");
            ShouldSayNoRoom(await process.EndAsync(), 0, "standard output");
        }
    }

    private static async Task TypeAsync(ToolProcess process, string lines)
    {
        await process.Input.WriteAsync(Encoding.ASCII.GetBytes(lines), TestContext.Current.CancellationToken);
        await process.Input.FlushAsync(TestContext.Current.CancellationToken);
    }

    // Deletes every other entry.
    private int MakeHoles()
    {
        using var environment = StorageEnvironment.Open(At("new"));
        environment.Write(writing =>
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < Entries; i += 2)
                tree.Delete(Place.Key(i));
        });
        return Entries / 2;
    }

    private void CopySet()
    {
        Directory.CreateDirectory(At("set"));
        foreach (var file in Directory.GetFiles(_place.Set))
            File.Copy(file, Path.Combine(At("set"), Path.GetFileName(file)));
    }

    private string At(string name) => Path.Combine(_volume.Path, name);

    private string[] Words(string line) => [.. line.Split(' ').Select(word => word switch
    {
        "STORE" => _place.Store,
        "DUMP" => _place.Dump,
        "LONG" => _place.LongDump,
        "FULL" => _place.Full,
        "NEXT" => _place.Next,
        "SET" => _place.Set,
        "NEW" => At("new"),
        "NEWSET" => At("set") + "/",
        "VALUE" => Value,
        _ => word,
    })];

    private async Task ShouldFindNoRoomAsync(long room, string line, params string[] named)
    {
        var before = Files();
        var filler = _volume.Fill(room);
        ShouldSayNoRoom(await ToolRun.Of(Words(line)), room, named);
        File.Delete(filler);
        Files().Should().BeEquivalentTo(before);
    }

    private static void ShouldSayNoRoom(ToolRun run, long room, params string[] named)
    {
        TestContext.Current.TestOutputHelper?.WriteLine($"{room}: {run.Code} {run.Output} {run.Error}");
        (run.Code, run.Output).Should().Be((ExitCode.NoRoom, ""), $"{room} bytes are not enough: {run.Error}");
        run.Error.Should().ContainAll(named);
        run.Error.Trim().Should().NotContain("\n").And.NotContain("   at ");
    }

    // The files of the volume and what is in them. An empty directory may stay.
    private Dictionary<string, string> Files() => Directory.EnumerateFiles(_volume.Path, "*", SearchOption.AllDirectories)
        .ToDictionary(file => file, file => Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(File.ReadAllBytes(file))));

    private async Task ShouldSucceedAsync(string line)
    {
        var run = await ToolRun.Of(Words(line));
        run.Code.Should().Be(ExitCode.Done, run.Error);
        await ShouldHaveAsync(_place.Store, Entries);
    }

    private static async Task ShouldHaveAsync(string environment, int entries) =>
        (await ToolRun.Done("verify", environment, "-o", "json")).Json.GetProperty("entries").GetInt64().Should().Be(entries);

    /// <summary>A small volume, and an environment with its backups and its dump outside of it.</summary>
    public sealed class Place : IAsyncLifetime
    {
        private const long VolumeBytes = 64 << 20;

        private readonly TestDirectory _directory = new();

        public async ValueTask InitializeAsync()
        {
            Volume = LoopVolume.TryMake(In("image"), In("volume"), out var reason, VolumeBytes);
            Reason = reason;
            if (Volume == null)
                return;
            await MakeBackupsAsync();
            await ToolRun.Done("dump", Store, "--file", Dump);
            using (var environment = StorageEnvironment.Open(In("long")))
            {
                Put(environment, 0, ShortTreeEntries, "short", bytes: 900_000);
                Put(environment, 0, LongTreeEntries, bytes: 900_000);
            }

            await ToolRun.Done("dump", In("long"), "--file", LongDump);
        }

        private async Task MakeBackupsAsync()
        {
            using var environment = StorageEnvironment.Open(Store);
            Put(environment, 0, Entries / 2);
            var set = BackupSet.Open(Set);
            await set.BackupAsync(environment, BackupKind.Full);
            var full = await environment.BackupAsync(Full, new BackupOptions { IsBase = true });
            Put(environment, Entries / 2, Entries);
            await set.BackupAsync(environment);
            await environment.BackupAsync(Next, new BackupOptions { Since = full.BackupId, IsBase = true });
        }

        internal LoopVolume? Volume { get; private set; }

        internal string Reason { get; private set; } = "";

        internal string Store => In("store");

        internal string Dump => In("dump");

        internal string LongDump => In("long-dump");

        internal string Full => In("full");

        internal string Next => In("next");

        internal string Set => In("set");

        public ValueTask DisposeAsync()
        {
            Volume?.Dispose();
            _directory.Dispose();
            return ValueTask.CompletedTask;
        }

        private string In(string name) => Path.Combine(_directory.Path, name);

        internal static byte[] Key(int number) => Encoding.ASCII.GetBytes($"k{number:D3}");

        private static void Put(StorageEnvironment environment, int from, int to, string name = "t", int bytes = 20_000) => environment.Write(writing =>
        {
            var (tree, value, random) = (writing.CreateTree(name), new byte[bytes], new Random(from));
            for (var i = from; i < to; i++)
            {
                random.NextBytes(value);
                tree.Put(Key(i), value);
            }
        });
    }
}
