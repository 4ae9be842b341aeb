using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Backup;
using Voron.Tests.Faults;
using Voron.Tests.Staging;

namespace Voron.Tests.Loading;

/// <summary>Bulk loads that fail, are cancelled or forgotten, or whose environment is closed: nothing is loaded, or everything.</summary>
public sealed class LoadFaultTests
{
    private static readonly SortedDictionary<byte[], byte[]> Entries = LoadTestKit.Entries(new Random(1), 3_000, 900);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    // The second loads backwards, so that everything is sorted, in so little memory that all but the end is spilled.
    private static readonly BulkLoadOptions[] Ways = [new() { Sorted = true }, new() { MemoryBytes = 1 << 20 }];

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Each_call_of_the_disk_may_fail(int way)
    {
        var failed = 0;
        for (var call = 0; ; call++)
        {
            using var disk = new SimulatedDisk();
            using var environment = Open(disk);
            var left = call;
            disk.FailNext(_ => left-- == 0, DiskError.Failed);
            var failure = await TryLoadAsync(environment, way);
            disk.ClearFaults();
            if (left >= 0)
            {
                failure.Should().BeNull();
                break;
            }

            // A failed write-back or journal write poisons the environment; other calls fail the load alone, or are made again.
            if (failure != null)
            {
                failed++;
                failure.Should().Match(error => error is StorageAccessException || error is EnvironmentPoisonedException);
                failure.Message.Should().Contain(disk.Path);
            }

            if (failure is EnvironmentPoisonedException)
                continue;
            CheckAllOrNothing(environment, isLoaded: failure == null);
        }

        failed.Should().BeGreaterThan(10);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task On_a_full_disk_nothing_is_loaded_and_the_same_load_succeeds_when_there_is_room(int way)
    {
        var (full, complete) = (0, 0);
        for (var room = 0L; room < 6 << 20; room += 200 << 10)
        {
            using var disk = new SimulatedDisk();
            using var environment = Open(disk);
            disk.SpaceLimit = disk.UsedBytes + room;
            var failure = await TryLoadAsync(environment, way);
            disk.SpaceLimit = long.MaxValue;
            if (failure != null)
            {
                full++;
                failure.Should().BeOfType<StorageFullException>().Which.Message.Should().Contain(disk.Path);
                CheckAllOrNothing(environment, isLoaded: false);
                (await TryLoadAsync(environment, way)).Should().BeNull();
            }
            else
            {
                complete++;
            }

            CheckAllOrNothing(environment, isLoaded: true);
        }

        full.Should().BePositive();
        complete.Should().BePositive();
    }

    [Fact]
    public async Task A_cancelled_load_leaves_nothing()
    {
        using var environment = Open(new SimulatedDisk());
        using var stop = new CancellationTokenSource();
        using (var load = await environment.BeginBulkLoadAsync("t", new BulkLoadOptions { Sorted = true }, stop.Token))
        {
            load.Put("a"u8, new byte[100_000]);
            await stop.CancelAsync();
            load.Invoking(at => at.Put("b"u8, "2"u8)).Should().Throw<OperationCanceledException>();
        }

        using (var load = await environment.BeginBulkLoadAsync("t", new BulkLoadOptions { Sorted = true }, Token))
        {
            load.Put("a"u8, new byte[100_000]);
            await load.Awaiting(at => at.CompleteAsync(stop.Token)).Should().ThrowAsync<OperationCanceledException>();
        }

        CheckAllOrNothing(environment, isLoaded: false);
    }

    [Fact]
    public async Task An_environment_that_is_closed_ends_its_loads()
    {
        using var disk = new SimulatedDisk();
        var environment = Open(disk);
        using var load = await environment.BeginBulkLoadAsync("t", new BulkLoadOptions { Sorted = true }, Token);
        using var other = await environment.BeginBulkLoadAsync("u", new BulkLoadOptions { Sorted = true }, Token);
        load.Put("a"u8, new byte[100_000]);
        await environment.DisposeAsync();
        load.Invoking(at => at.Put("b"u8, new byte[100_000])).Should().Throw<ObjectDisposedException>().WithMessage("*bulk load*");
        await other.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<ObjectDisposedException>();
        load.Dispose();
        using var again = Open(disk);
        CheckAllOrNothing(again, isLoaded: false);
    }

    /// <summary>Once the pages are free, others may write to them: a write of the load that ends later would replace their content.</summary>
    [Fact]
    public async Task A_load_that_is_given_up_frees_its_pages_when_the_write_under_way_has_ended()
    {
        using var disk = new SimulatedDisk();
        var slow = new SlowDisk(disk);
        var options = StagingTestKit.Options();

        // A round has 32 KiB. The pages of the first one are written in the background at the end of the second.
        options.ScratchMemoryBytes = 4 << 20;
        options.BackgroundFlush = true;
        options.ScrubInterval = Timeout.InfiniteTimeSpan;
        using var environment = StorageEnvironment.Open(slow, options);
        var load = await environment.BeginBulkLoadAsync("t", new BulkLoadOptions { Sorted = true }, Token);
        load.Put([0, 0], new byte[1000]);
        slow.Arm([new SlowHold(DiskCallKind.Write, Skip: 0, HoldsAfter: false, Fails: false)]);
        for (byte i = 1; i < 80; i++)
            load.Put([0, i], new byte[1000]);
        StagingTestKit.WaitUntil(() => slow.Held.Count == 1, "pages are written");
        var disposing = new TestThread(load.Dispose);
        disposing.WaitUntilBlockedOrEnded();
        environment.BeginWrite().Dispose();
        disposing.HasEnded.Should().BeFalse();
        environment.GetStatistics().StagedBytes.Should().BePositive("the pages are still being written");
        slow.Release(slow.Held[0]);
        disposing.Join().Should().BeNull();
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public void A_forgotten_load_frees_its_pages()
    {
        using var environment = Open(new SimulatedDisk());
        Forget(environment);
        TestWait.Until(() =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            return environment.GetStatistics().StagedBytes == 0;
        });
        CheckAllOrNothing(environment, isLoaded: false);
    }

    [Fact]
    public async Task An_incremental_backup_has_the_pages_of_a_load()
    {
        using var disk = new SimulatedDisk();
        using var environment = Open(disk);
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 1000));
        var full = await BackUpAsync(environment, null);
        (await TryLoadAsync(environment)).Should().BeNull();
        var increment = await BackUpAsync(environment, (await BackupTestKit.Verify(full)).BackupId);
        using var target = new SimulatedDisk();
        await BackupTestKit.Restore(target, full, increment);
        using var restored = Open(target);
        LoadTestKit.Check(restored, Entries);
    }

    /// <summary>Writers, readers, flushes and compactions run beside loads, which take pages that they free.</summary>
    [Fact]
    public async Task Other_work_continues_meanwhile()
    {
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, StagingTestKit.Options());
        using var stop = new CancellationTokenSource();
        var work = Task.Run(
            async () =>
            {
                for (var i = 0; !stop.IsCancellationRequested; i++)
                {
                    environment.Write(writing =>
                    {
                        var tree = writing.CreateTree("other");
                        for (var key = 0; key < 20; key++)
                            tree.Put(FaultTestKit.Key(i * 7 % 50 * 20 + key), FaultTestKit.Value(i, i % 9 == 0 ? 40_000 : 300));
                    });
                    environment.Flush();
                    if (i % 4 == 0)
                        environment.ReclaimSpace();
                    if (i % 8 == 0)
                        await environment.CompactAsync(cancellationToken: Token);
                }
            },
            Token);
        for (var round = 0; round < 12; round++)
        {
            var model = LoadTestKit.Entries(new Random(round), 3_000, 2_000);
            await environment.BulkLoadAsync("t", LoadTestKit.Sequence(model), new BulkLoadOptions { Sorted = true }, Token);
            LoadTestKit.Check(environment, model);
            environment.Write(writing => writing.DeleteTree("t"));
        }

        await stop.CancelAsync();
        await work;
        StagingTestKit.CheckUnreserved(environment);
    }

    private static async Task<byte[]> BackUpAsync(StorageEnvironment environment, Guid? parent)
    {
        using var target = new MemoryStream();
        var report = await environment.BackupAsync(target, new BackupOptions { Since = parent }, Token);
        report.ParentId.Should().Be(parent);
        return target.ToArray();
    }

    private static StorageEnvironment Open(SimulatedDisk disk) => StorageEnvironment.Open(disk, StagingTestKit.Options());

    private static async Task<VoronException?> TryLoadAsync(StorageEnvironment environment, int way = 0)
    {
        try
        {
            await environment.BulkLoadAsync("t", LoadTestKit.Sequence(way == 0 ? Entries : Entries.Reverse()), Ways[way], Token);
            return null;
        }
        catch (VoronException e)
        {
            return e;
        }
    }

    private static void CheckAllOrNothing(StorageEnvironment environment, bool isLoaded)
    {
        StagingTestKit.CheckUnreserved(environment);
        if (isLoaded)
        {
            LoadTestKit.Check(environment, Entries);
            return;
        }

        using var reading = environment.BeginRead();
        reading.TryOpenTree("t", out _).Should().BeFalse();
    }

    // Not asynchronous: the test would continue on the stack of calls that still know the load.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Forget(StorageEnvironment environment)
    {
        var load = environment.BeginBulkLoadAsync("t", new BulkLoadOptions { Sorted = true }).AsTask().GetAwaiter().GetResult();
        load.Put("a"u8, new byte[100_000]);
        environment.GetStatistics().StagedBytes.Should().BePositive();
    }
}
