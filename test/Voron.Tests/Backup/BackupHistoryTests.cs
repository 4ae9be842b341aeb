using Microsoft.Extensions.Time.Testing;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>Sets of backups across restores, wrong clocks, and calls that delete beside calls that build on what is deleted.</summary>
public sealed class BackupHistoryTests : IDisposable
{
    private readonly TemporaryDirectory _place = new();
    private readonly FakeTimeProvider _clock = new(DateTimeOffset.UtcNow.AddDays(-1)) { AutoAdvanceAmount = TimeSpan.FromSeconds(1) };
    private readonly StorageEnvironment _environment;
    private readonly BackupSet _set;
    private int _directories;

    public BackupHistoryTests()
    {
        _environment = StorageEnvironment.Open(new SimulatedDisk(), Clocked());
        Put(_environment, "first");
        _set = BackupSet.Open(Path.Combine(_place.Path, "set"));
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _place.Dispose();
    }

    /// <summary>Without a commit behind the restore, the time of the restored state is that before the mistake: the mistake was the newest.</summary>
    [Fact]
    public async Task A_backup_right_after_a_restore_is_newer_than_the_abandoned_history()
    {
        var sound = await BackUp(_environment, BackupKind.Full);
        var expected = ContentOf(_environment);
        Put(_environment, "mistake");
        await BackUp(_environment, BackupKind.Incremental);
        using var restored = await RestoreAsync(sound.Time);
        await BackUp(restored, BackupKind.Full);
        (await ContentOfNewest()).Should().BeEquivalentTo(expected);
        (await _set.PruneAsync(keepFull: 1, cancellationToken: Token)).Deleted.Should().HaveCount(2);
        (await ContentOfNewest()).Should().BeEquivalentTo(expected);
    }

    [Fact]
    public async Task Of_several_restores_the_history_with_the_last_backup_is_the_newest()
    {
        await BackUp(_environment, BackupKind.Full);
        using var first = await RestoreAsync();
        using var second = await RestoreAsync();
        Put(second, "second");
        await BackUp(second, BackupKind.Full);
        Put(first, "first");
        await BackUp(first, BackupKind.Full);
        (await ContentOfNewest()).Should().BeEquivalentTo(ContentOf(first));
        await BackUp(second, BackupKind.Incremental);
        (await ContentOfNewest()).Should().BeEquivalentTo(ContentOf(second));
    }

    /// <summary>A commit time never falls, so all commits behind a wrong one have it: no backup seemed to be as early as today.</summary>
    [Fact]
    public async Task One_wrong_reading_of_the_clock_hides_no_backup()
    {
        await BackUp(_environment, BackupKind.Full);
        var now = _clock.GetUtcNow();
        _clock.SetUtcNow(new DateTimeOffset(2100, 1, 1, 0, 0, 0, TimeSpan.Zero));
        Put(_environment, "wrong");
        _clock.AdjustTime(now);
        Put(_environment, "right");
        await BackUp(_environment, BackupKind.Incremental);
        using var restored = await RestoreAsync(DateTimeOffset.UtcNow);
        ContentOf(restored).Should().BeEquivalentTo(ContentOf(_environment));
        (await _set.ListAsync(Token))[^1].Info!.IsTimeWrong.Should().BeTrue();

        for (var day = 0; day < 3; day++)
        {
            Put(restored, $"day {day}");
            await BackUp(restored, BackupKind.Full);
            await _set.PruneAsync(keepFull: 1, cancellationToken: Token);
            (await ContentOfNewest()).Should().BeEquivalentTo(ContentOf(restored));
        }
    }

    [Fact]
    public async Task Pruning_beside_a_backup_keeps_what_it_builds_on()
    {
        var parent = await BackUp(_environment, BackupKind.Full);
        Put(_environment, "a");
        await _set.BackupAsync(_environment, BackupKind.Full, new BackupOptions { IsBase = false }, Token);
        Put(_environment, "b");
        PruneReport? pruned = null;
        var options = new BackupOptions
        {
            Progress = new SynchronousProgress<BackupProgress>(
                _ => pruned ??= _set.PruneAsync(keepFull: 1, cancellationToken: Token).AsTask().GetAwaiter().GetResult()),
        };
        (await _set.BackupAsync(_environment, BackupKind.Incremental, options, Token)).ParentId.Should().Be(parent.BackupId);
        pruned!.Deleted.Should().BeEmpty();
        (await _set.ListAsync(Token)).Should().HaveCount(3).And.OnlyContain(entry => entry.Problem == null);
        (await ContentOfNewest()).Should().BeEquivalentTo(ContentOf(_environment));
        (await _set.BackupAsync(_environment, BackupKind.Full, cancellationToken: Token)).ParentId.Should().BeNull();
        (await _set.PruneAsync(keepFull: 1, cancellationToken: Token)).Deleted.Should().HaveCount(3, "nothing uses them any more");
    }

    private static void Put(StorageEnvironment environment, string value) =>
        environment.Write(writing => writing.CreateTree("t").Put("key"u8, FaultTestKit.Value(value.Length, 20_000 + value[0])));

    private StorageOptions Clocked()
    {
        var options = Options();
        options.CommitClock = _clock;
        return options;
    }

    private ValueTask<BackupReport> BackUp(StorageEnvironment environment, BackupKind kind) =>
        _set.BackupAsync(environment, kind, cancellationToken: Token);

    private async Task<StorageEnvironment> RestoreAsync(DateTimeOffset? notAfter = null)
    {
        var directory = Path.Combine(_place.Path, $"restored-{_directories++}");
        await _set.RestoreAsync(directory, notAfter, cancellationToken: Token);
        return StorageEnvironment.Open(directory);
    }

    private async Task<Dictionary<string, string>> ContentOfNewest()
    {
        using var restored = await RestoreAsync();
        return ContentOf(restored);
    }
}
