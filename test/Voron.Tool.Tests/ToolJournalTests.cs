using System.Runtime.InteropServices;
using System.Text.Json;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Transactions;

namespace Voron.Tool.Tests;

/// <summary>What <c>voron journal</c> says about the files of an environment that was killed, closed or damaged.</summary>
public sealed class ToolJournalTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task What_recovery_replays_is_listed_and_nothing_is_written()
    {
        WriteFiles(Killed(5));
        var before = FaultTestKit.Bytes(Store);
        var journal = (await ToolRun.Done("journal", Store, "--transactions", "-o", "json")).Json;
        journal.GetProperty("version").GetInt32().Should().Be(1);
        journal.GetProperty("recoveredTransaction").GetInt64().Should().Be(5);
        var records = journal.GetProperty("records").EnumerateArray().ToList();
        var transactions = records.Where(record => record.GetProperty("kind").GetString() == "transaction").ToList();
        transactions.Select(record => record.GetProperty("transaction").GetInt64()).Should().Equal(1, 2, 3, 4, 5);
        transactions.Should().OnlyContain(record => record.GetProperty("replayed").GetBoolean() && record.GetProperty("pages").GetInt64() > 0);
        transactions.Select(record => record.GetProperty("time").GetDateTimeOffset()).Should().BeInAscendingOrder();
        records.Count(record => record.GetProperty("replayed").GetBoolean()).Should().Be((int)journal.GetProperty("replayedRecords").GetInt64());
        var file = journal.GetProperty("files").EnumerateArray().Should().ContainSingle().Subject;
        file.GetProperty("firstTransaction").GetInt64().Should().Be(1);
        file.GetProperty("lastTransaction").GetInt64().Should().Be(5);
        file.GetProperty("needed").GetBoolean().Should().BeTrue();
        file.GetProperty("endsBecause").GetString().Should().Be("nothing follows");
        (await ToolRun.Done("journal", Store)).Output.Should().Contain("journal-").And.NotContain("durability marker");
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(Store), before);
        using (var environment = StorageEnvironment.Open(Store))
            environment.Recovery.ReplayedRecords.Should().Be(journal.GetProperty("replayedRecords").GetInt64());
        (await ToolRun.Done("journal", Store, "-o", "json")).Json.GetProperty("replayedRecords").GetInt64().Should().Be(0, "it was closed");
    }

    [Fact]
    public async Task A_transaction_that_only_attached_an_object_is_listed_without_pages()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            Put(environment, 1, 1);
            CommitStateKit.Commit(environment, 1);
            WriteFiles(FaultTestKit.Bytes(disk));
        }

        var journal = (await ToolRun.Done("journal", Store, "--transactions", "-o", "json")).Json;
        journal.GetProperty("recoveredTransaction").GetInt64().Should().Be(2);
        var transactions = journal.GetProperty("records").EnumerateArray().Where(record => record.GetProperty("kind").GetString() == "transaction");
        transactions.Should().OnlyContain(record => record.GetProperty("replayed").GetBoolean());
        transactions.Last().GetProperty("pages").GetInt64().Should().Be(0);
        using var again = StorageEnvironment.Open(Store);
        again.Recovery.TransactionId.Should().Be(2);
    }

    [Fact]
    public async Task What_is_before_the_checkpoint_is_not_replayed()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            Put(environment, 1, 3);
            environment.Flush();
            Put(environment, 4, 5);
            WriteFiles(FaultTestKit.Bytes(disk));
        }

        var journal = (await ToolRun.Done("journal", Store, "--transactions", "-o", "json")).Json;
        journal.GetProperty("checkpointTransaction").GetInt64().Should().Be(3);
        var transactions = journal.GetProperty("records").EnumerateArray().Where(record => record.GetProperty("kind").GetString() == "transaction");
        transactions.Where(record => record.GetProperty("replayed").GetBoolean()).Select(record => record.GetProperty("transaction").GetInt64())
            .Should().Equal(4, 5);
    }

    [Fact]
    public async Task A_record_that_was_not_finished_ends_the_journal()
    {
        var files = Killed(5);
        var (name, places) = Records(files);
        files[name][places[^1] + 200] ^= 1;
        WriteFiles(files);
        var journal = (await ToolRun.Done("journal", Store, "-o", "json")).Json;
        journal.GetProperty("recoveredTransaction").GetInt64().Should().Be(4);
        journal.GetProperty("droppedRecords").GetInt64().Should().Be(1);
        var file = journal.GetProperty("files")[0];
        file.GetProperty("endsBecause").GetString().Should().Contain("checksum is wrong");
        file.GetProperty("validBytes").GetInt64().Should().Be(places[^1]);
        file.GetProperty("lastTransaction").GetInt64().Should().Be(4);
    }

    [Fact]
    public async Task A_loss_in_the_middle_is_shown_beside_what_recovery_says()
    {
        var files = Killed(5);
        var (name, places) = Records(files);
        files[name].AsSpan(places[1], JournalFormat.Block).Clear();
        WriteFiles(files);
        var run = await ToolRun.Of("journal", Store, "--transactions", "-o", "json");
        run.Code.Should().Be(ExitCode.Damaged);
        run.Json.GetProperty("recoveryFails").GetString().Should().Contain("durable");
        var file = run.Json.GetProperty("files")[0];
        file.GetProperty("validBytes").GetInt64().Should().Be(places[1]);
        file.GetProperty("recordsBehind").GetInt64().Should().Be(places.Count - 2);
        run.Json.GetProperty("records").EnumerateArray().Should().OnlyContain(record => !record.GetProperty("replayed").GetBoolean());
    }

    [Fact]
    public async Task Files_without_a_valid_header_are_listed_too()
    {
        var files = Killed(3);
        var (name, _) = Records(files);
        var foreign = new SortedDictionary<string, byte[]>(files) { ["journal-00000099.voron"] = [.. Enumerable.Repeat((byte)'x', 20_000)] };
        WriteFiles(foreign);
        var run = await ToolRun.Of("journal", Store, "-o", "json");
        run.Code.Should().Be(ExitCode.OtherFormat);
        run.Json.GetProperty("files").GetArrayLength().Should().Be(2);
        run.Json.GetProperty("files")[0].GetProperty("transactions").GetInt64().Should().Be(3);

        File.Delete(Path.Combine(Store, "journal-00000099.voron"));
        files[name].AsSpan(0, JournalFormat.FirstRecordOffset).Clear();
        WriteFiles(files);
        run = await ToolRun.Of("journal", Store, "-o", "json");
        run.Code.Should().Be(ExitCode.Damaged);
        run.Json.GetProperty("files")[0].GetProperty("endsBecause").GetString().Should().Contain("header");

        files[name] = Killed(3)[name];
        for (var copy = 0; copy < 2; copy++)
        {
            var block = files[name].AsSpan(copy * JournalFormat.Block, JournalFormat.Block);
            ref var header = ref MemoryMarshal.AsRef<JournalFileHeader>(block);
            header.Version = 99;
            header.Checksum = Checksum.Compute(block[JournalFileHeader.ChecksummedFrom..], JournalFormat.FileMagic);
        }

        WriteFiles(files);
        run = await ToolRun.Of("journal", Store, "-o", "json");
        run.Code.Should().Be(ExitCode.OtherFormat);
        run.Json.GetProperty("files")[0].GetProperty("endsBecause").GetString().Should().Contain("version 99");
    }

    [Fact]
    public async Task Random_damage_never_makes_the_command_fail()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        var sound = Killed(6);
        var (name, _) = Records(sound);
        for (var i = 0; i < 40; i++)
        {
            var files = new SortedDictionary<string, byte[]>(sound.ToDictionary(file => file.Key, file => file.Value.ToArray()));
            for (var flips = random.Next(1, 30); flips > 0; flips--)
                files[name][random.Next(60_000)] = (byte)random.Next(256);
            if (random.Next(4) == 0)
                files[name] = files[name][..random.Next(files[name].Length)];
            WriteFiles(files);
            var run = await ToolRun.Of("journal", Store, "--transactions", "-o", "json");
            run.Code.Should().BeOneOf([ExitCode.Done, ExitCode.Damaged, ExitCode.OtherFormat], $"seed {seed}, case {i}: {run.Error}");
            run.Json.GetProperty("files").GetArrayLength().Should().Be(1);
            (run.Json.GetProperty("recoveryFails").ValueKind == JsonValueKind.Null).Should().Be(run.Code == ExitCode.Done);
        }
    }

    [Fact]
    public async Task What_is_no_environment_has_its_exit_code()
    {
        foreach (var command in (string[])["journal", "changes"])
        {
            (await ToolRun.Of(command, Store)).Code.Should().Be(ExitCode.NothingThere);
            Directory.CreateDirectory(Path.Combine(_directory.Path, "empty"));
            (await ToolRun.Of(command, Path.Combine(_directory.Path, "empty"))).Code.Should().Be(ExitCode.NothingThere);
            Directory.EnumerateFileSystemEntries(Path.Combine(_directory.Path, "empty")).Should().BeEmpty();
            using (StorageEnvironment.Open(Path.Combine(_directory.Path, "used")))
                (await ToolRun.Of(command, Path.Combine(_directory.Path, "used"))).Code.Should().Be(ExitCode.InUse);
            var other = Directory.CreateDirectory(Path.Combine(_directory.Path, command)).FullName;
            File.WriteAllText(Path.Combine(other, "voron.header"), new string('x', 10_000));
            (await ToolRun.Of(command, other)).Code.Should().Be(ExitCode.OtherFormat);
        }
    }

    private static void Put(StorageEnvironment environment, int first, int last)
    {
        for (var i = first; i <= last; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
    }

    private static SortedDictionary<string, byte[]> Killed(int transactions)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Put(environment, 1, transactions);
        return FaultTestKit.Bytes(disk);
    }

    private static (string Name, List<int> Places) Records(SortedDictionary<string, byte[]> files)
    {
        var (name, bytes) = files.Single(file => file.Key.StartsWith("journal-", StringComparison.Ordinal));
        var places = new List<int>();
        for (var at = JournalFormat.FirstRecordOffset; at < bytes.Length; at += JournalFormat.Block)
        {
            if (MemoryMarshal.Read<ulong>(bytes.AsSpan(at)) == JournalFormat.RecordMarker)
                places.Add(at);
        }

        return (name, places);
    }

    private void WriteFiles(SortedDictionary<string, byte[]> files)
    {
        Directory.CreateDirectory(Store);
        foreach (var (name, bytes) in files)
            File.WriteAllBytes(Path.Combine(Store, name), bytes);
    }
}
