using Microsoft.Extensions.Logging.Abstractions;
using Voron.IO;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>Sets of backups: listed, restored, merged and pruned by what the files say.</summary>
public sealed class BackupSetTests : IDisposable
{
    private readonly TemporaryDirectory _place = new();
    private readonly StorageEnvironment _environment = StorageEnvironment.Open(MakeEnvironment(), Options());
    private readonly BackupSet _set;
    private int _restored;

    public BackupSetTests() => _set = BackupSet.Open(Path.Combine(_place.Path, "set"));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _place.Dispose();
    }

    [Fact]
    public async Task A_set_restores_its_newest_backup_and_older_ones()
    {
        var content = new List<Dictionary<string, string>>();
        var reports = new List<BackupReport>();
        for (var i = 0; i < 4; i++)
        {
            Put(i);
            content.Add(ContentOf(_environment));
            reports.Add(await BackUp(i == 2 ? BackupKind.Full : BackupKind.Incremental));
        }

        reports.Select(report => report.ParentId).Should().Equal(null, reports[0].BackupId, null, reports[2].BackupId);
        var entries = await _set.ListAsync(Token);
        entries.Select(entry => entry.Info!.BackupId).Should().Equal(reports.Select(report => report.BackupId));
        entries.Select(entry => entry.Chain.Count).Should().Equal(1, 2, 1, 2);
        entries.Select(entry => Path.GetFileName(entry.File)[..4]).Should().Equal("full", "incr", "full", "incr");
        (await Restore()).Should().BeEquivalentTo(content[3]);
        (await Restore(reports[1].Time)).Should().BeEquivalentTo(content[1]);
        (await Restore(reports[2].Time!.Value.AddTicks(-1))).Should().BeEquivalentTo(content[1]);
    }

    [Fact]
    public async Task What_a_killed_backup_has_left_is_deleted_by_the_next_one_of_the_set()
    {
        await BackUp(BackupKind.Full);
        var file = (await _set.ListAsync(Token))[0].File;
        var left = $"{file}.0123456789ABCDEF0123456789ABCDEF.partial";
        var foreign = Path.Combine(_set.Directory, "mine.vback.0123456789ABCDEF0123456789ABCDEF.partial");
        var running = $"{file}.0123456789ABCDEF0123456789ABCDE0.partial";
        foreach (var name in new[] { left, foreign, running })
            await System.IO.File.WriteAllTextAsync(name, "unfinished", Token);
        using (var disk = FileSystemDisk.Open(_set.Directory, readOnly: false, NullLogger.Instance))
        using (disk.Lock(Path.GetFileName(running), shared: false))
            await BackUp(BackupKind.Incremental);
        System.IO.File.Exists(left).Should().BeFalse();
        System.IO.File.Exists(foreign).Should().BeTrue("it is of no set");
        System.IO.File.Exists(running).Should().BeTrue("another process is writing it");
        (await _set.ListAsync(Token)).Should().HaveCount(2);
    }

    [Fact]
    public async Task A_missing_backup_shows_in_those_that_build_on_it()
    {
        for (var i = 0; i < 3; i++)
        {
            Put(i);
            await BackUp(BackupKind.Incremental);
        }

        var expected = await _set.ListAsync(Token);
        System.IO.File.Delete(expected[1].File);
        var entries = await _set.ListAsync(Token);
        entries.Should().HaveCount(2);
        entries[0].Problem.Should().BeNull();
        entries[1].Chain.Should().BeEmpty();
        entries[1].Problem.Should().Contain(expected[1].Info!.BackupId.ToString());

        // The next one builds on what can be restored.
        Put(3);
        (await BackUp(BackupKind.Incremental)).ParentId.Should().Be(expected[0].Info!.BackupId);
        (await Restore()).Should().BeEquivalentTo(ContentOf(_environment));
    }

    [Fact]
    public async Task A_merged_chain_restores_the_same_and_is_built_on()
    {
        var reports = new List<BackupReport>();
        for (var i = 0; i < 4; i++)
        {
            Put(i);
            _environment.Write(writing => writing.OpenTree("t").DeleteRange(KeyRange.Prefix(FaultTestKit.Key(i).AsSpan(0, 5))));
            reports.Add(await BackUp(BackupKind.Incremental));
        }

        var old = await _set.ListAsync(Token);
        var merged = await _set.MergeAsync(Token);
        merged.IsFull.Should().BeTrue();
        merged.BackupId.Should().Be(reports[3].BackupId);
        merged.TransactionId.Should().Be(reports[3].TransactionId);
        merged.Pages.Should().Be(reports[3].Pages);
        merged.IsBase.Should().BeTrue();
        foreach (var entry in old)
            System.IO.File.Delete(entry.File);
        (await Restore()).Should().BeEquivalentTo(ContentOf(_environment));
        Put(7);
        (await BackUp(BackupKind.Incremental)).ParentId.Should().Be(merged.BackupId);
        (await Restore()).Should().BeEquivalentTo(ContentOf(_environment));
        (await _set.MergeAsync(Token)).IsFull.Should().BeTrue();
        (await _set.ListAsync(Token)).Should().HaveCount(3);
    }

    [Fact]
    public async Task Merging_refuses_what_is_no_chain_and_what_is_there()
    {
        Put(0);
        await BackUp(BackupKind.Full);
        Put(1);
        await BackUp(BackupKind.Incremental);
        Put(2);
        await BackUp(BackupKind.Incremental);
        var files = (await _set.ListAsync(Token)).Select(entry => entry.File).ToList();
        var target = Path.Combine(_place.Path, "merged.vback");
        await ShouldFail(BackupFault.WrongParent, () => BackupFile.MergeAsync([files[0], files[2]], target, compress: false, Token));
        await ShouldFail(BackupFault.WrongParent, () => BackupFile.MergeAsync([files[1], files[2]], target, compress: false, Token));
        await ShouldFail(BackupFault.TargetNotEmpty, () => BackupFile.MergeAsync(files, files[0], compress: false, Token));
        var damaged = await System.IO.File.ReadAllBytesAsync(files[1], Token);
        damaged[6000] ^= 1;
        await System.IO.File.WriteAllBytesAsync(files[1], damaged, Token);
        await ShouldFail(BackupFault.Damaged, () => BackupFile.MergeAsync(files, target, compress: false, Token));
        Directory.GetFiles(_place.Path).Should().BeEmpty();
    }

    [Fact]
    public async Task Pruning_deletes_whole_chains_and_never_what_others_build_on()
    {
        for (var i = 0; i < 7; i++)
        {
            Put(i);
            await BackUp(i is 3 or 5 ? BackupKind.Full : BackupKind.Incremental);
        }

        var entries = await _set.ListAsync(Token);
        var foreign = Path.Combine(_set.Directory, "notes.txt");
        await System.IO.File.WriteAllTextAsync(foreign, "mine", Token);
        var expected = entries.Take(3).Reverse().Select(entry => entry.File).ToList();
        var dry = await _set.PruneAsync(keepFull: 2, dryRun: true, cancellationToken: Token);
        dry.Deleted.Should().Equal(expected);
        dry.Bytes.Should().Be(entries.Take(3).Sum(entry => entry.Info!.Bytes));
        (await _set.ListAsync(Token)).Should().HaveCount(7);
        (await _set.PruneAsync(keepFull: 1, TimeSpan.FromHours(1), cancellationToken: Token)).Deleted.Should().BeEmpty("all are young");
        (await _set.PruneAsync(keepFull: 2, cancellationToken: Token)).Deleted.Should().Equal(expected);
        (await _set.ListAsync(Token)).Should().HaveCount(4).And.OnlyContain(entry => entry.Problem == null);
        (await _set.PruneAsync(keepFull: 1, cancellationToken: Token)).Deleted.Should().HaveCount(2);
        (await Restore()).Should().BeEquivalentTo(ContentOf(_environment));
        System.IO.File.Exists(foreign).Should().BeTrue();
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await _set.PruneAsync(keepFull: 0, cancellationToken: Token));
    }

    [Fact]
    public async Task The_chain_with_the_newest_state_is_never_deleted()
    {
        await BackUp(BackupKind.Full);
        Put(1);
        await BackUp(BackupKind.Incremental);
        Put(2);
        var lone = await _set.BackupAsync(_environment, BackupKind.Full, new BackupOptions { IsBase = false }, Token);
        Put(3);
        var newest = await BackUp(BackupKind.Incremental);
        newest.ParentId.Should().NotBe(lone.BackupId);
        var pruned = await _set.PruneAsync(keepFull: 1, cancellationToken: Token);
        pruned.Deleted.Should().ContainSingle();
        (await _set.ListAsync(Token)).Select(entry => entry.Info!.BackupId).Should().HaveCount(3).And.NotContain(lone.BackupId);
        (await Restore()).Should().BeEquivalentTo(ContentOf(_environment));
    }

    [Fact]
    public async Task A_set_follows_the_history_that_continues_after_a_restore()
    {
        await BackUp(BackupKind.Full);
        var first = (await _set.ListAsync(Token))[0].File;
        for (var i = 0; i < 5; i++)
            Put(i);
        var abandoned = await BackUp(BackupKind.Full);
        var directory = Path.Combine(_place.Path, "goes-on");
        await BackupFile.RestoreAsync(first, directory, null, Token);
        using var restored = StorageEnvironment.Open(directory);
        restored.Write(writing => writing.CreateTree("t").Put("new"u8, "history"u8));
        var report = await _set.BackupAsync(restored, cancellationToken: Token);
        report.ParentId.Should().BeNull("the restored environment does not know the backups of the original");
        report.TransactionId.Should().BeLessThan(abandoned.TransactionId);
        (await Restore()).Should().BeEquivalentTo(ContentOf(restored));
        (await _set.PruneAsync(keepFull: 1, cancellationToken: Token)).Deleted.Should().HaveCount(2);
        (await Restore()).Should().BeEquivalentTo(ContentOf(restored));
    }

    [Fact]
    public async Task A_merge_that_is_cancelled_leaves_nothing()
    {
        for (var i = 0; i < 3; i++)
        {
            Put(i);
            await BackUp(BackupKind.Incremental);
        }

        var before = Directory.GetFiles(_set.Directory);
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await _set.MergeAsync(stop.Token));
        Directory.GetFiles(_set.Directory).Should().BeEquivalentTo(before);
    }

    [Fact]
    public async Task What_cannot_be_read_is_listed_and_stays()
    {
        await ShouldFail(BackupFault.TargetNotReached, () => _set.RestoreAsync(Path.Combine(_place.Path, "r"), cancellationToken: Token));
        await System.IO.File.WriteAllTextAsync(Path.Combine(_set.Directory, "full-x.vback"), "no backup", Token);
        await BackUp(BackupKind.Full);
        var entries = await _set.ListAsync(Token);
        entries.Should().HaveCount(2);
        entries[0].Info.Should().BeNull();
        entries[0].Problem.Should().Contain("full-x.vback");
        (await Restore()).Should().BeEquivalentTo(ContentOf(_environment));
        await ShouldFail(BackupFault.TargetNotReached, async () => await _set.RestoreAsync(
            Path.Combine(_place.Path, "r"), DateTimeOffset.UnixEpoch, cancellationToken: Token));
        (await _set.PruneAsync(keepFull: 1, cancellationToken: Token)).Kept.Should().HaveCount(2);
    }

    [Fact]
    public async Task Another_environment_gets_a_full_backup()
    {
        await BackUp(BackupKind.Full);
        using var other = StorageEnvironment.Open(MakeEnvironment(), Options());
        (await _set.BackupAsync(other, cancellationToken: Token)).ParentId.Should().BeNull();
        Put(1);
        (await BackUp(BackupKind.Incremental)).ParentId.Should().NotBeNull();
        (await _set.ListAsync(Token)).Should().OnlyContain(entry => entry.Chain.Count > 0);
    }

    private static async Task ShouldFail<T>(BackupFault fault, Func<ValueTask<T>> call) =>
        (await Assert.ThrowsAsync<BackupException>(async () => await call())).Fault.Should().Be(fault);

    private void Put(int round) => _environment.Write(writing =>
    {
        var tree = writing.CreateTree("t");
        for (var i = 0; i < 6; i++)
            tree.Put(FaultTestKit.Key(round * 5 + i), FaultTestKit.Value(round * 100 + i, i == 0 ? 120_000 : i == 1 ? 9_000 : 300));
    });

    private ValueTask<BackupReport> BackUp(BackupKind kind) => _set.BackupAsync(_environment, kind, cancellationToken: Token);

    private async Task<Dictionary<string, string>> Restore(DateTimeOffset? notAfter = null)
    {
        var directory = Path.Combine(_place.Path, $"restored-{_restored++}");
        (await _set.RestoreAsync(directory, notAfter, cancellationToken: Token)).Verification!.Problems.Should().BeEmpty();
        using var environment = StorageEnvironment.Open(directory);
        return ContentOf(environment);
    }
}
