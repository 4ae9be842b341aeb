using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tables;
using Voron.Tests.Staging;
using Voron.Tests.Tables;

namespace Voron.Tests.Loading;

/// <summary>Table loads that fail, are cancelled or forgotten, or whose environment is closed: all rows are loaded with all keys, or none.</summary>
public sealed class TableLoadFaultTests
{
    private static readonly Item[] Items = [.. Enumerable.Range(0, 1_500).Select(id => TableLoadKit.Draw(new Random(id), id) with { Size = 0 })];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Each_call_of_the_disk_may_fail()
    {
        var failed = 0;
        for (var call = 0; ; call++)
        {
            using var disk = new SimulatedDisk();
            using var environment = Open(disk);
            var left = call;
            disk.FailNext(_ => left-- == 0, DiskError.Failed);
            var failure = await TryLoadAsync(environment);
            disk.ClearFaults();
            if (left >= 0)
            {
                failure.Should().BeNull();
                break;
            }

            if (failure != null)
            {
                failed++;
                failure.Should().Match(error => error is StorageAccessException || error is EnvironmentPoisonedException);
                failure.Message.Should().Contain(disk.Path);
            }

            if (failure is not EnvironmentPoisonedException)
                CheckAllOrNothing(environment, isLoaded: failure == null);
        }

        failed.Should().BeGreaterThan(10);
    }

    [Fact]
    public async Task On_a_full_disk_nothing_is_loaded_and_the_same_load_succeeds_when_there_is_room()
    {
        var (full, complete) = (0, 0);
        for (var room = 0L; room < 8 << 20; room += 500 << 10)
        {
            using var disk = new SimulatedDisk();
            using var environment = Open(disk);
            disk.SpaceLimit = disk.UsedBytes + room;
            var failure = await TryLoadAsync(environment);
            disk.SpaceLimit = long.MaxValue;
            if (failure != null)
            {
                full++;
                failure.Should().BeOfType<StorageFullException>();
                CheckAllOrNothing(environment, isLoaded: false);
                (await TryLoadAsync(environment)).Should().BeNull();
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

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_cancelled_load_leaves_nothing(bool hasRows)
    {
        using var environment = Open(new SimulatedDisk());
        if (hasRows)
            environment.Insert(TableLoadKit.Texts, new Item("0"));
        using var stop = new CancellationTokenSource();
        using (var load = await environment.BeginBulkLoadAsync(TableLoadKit.Texts, null, stop.Token))
        {
            load.Put(Items[1]);
            await stop.CancelAsync();
            load.Invoking(at => at.Put(Items[2])).Should().Throw<OperationCanceledException>();
        }

        using (var load = await environment.BeginBulkLoadAsync(TableLoadKit.Texts, null, Token))
        {
            load.Put(Items[1]);
            await load.Awaiting(at => at.CompleteAsync(stop.Token)).Should().ThrowAsync<OperationCanceledException>();
        }

        await environment.Awaiting(at => at.BeginBulkLoadAsync(TableLoadKit.Texts, null, stop.Token))
            .Should().ThrowAsync<OperationCanceledException>();
        environment.MustBeSound(TableLoadKit.Texts, hasRows ? 1 : 0);
        StagingTestKit.CheckUnreserved(environment);
    }

    [Fact]
    public async Task An_environment_that_is_closed_ends_its_loads()
    {
        using var disk = new SimulatedDisk();
        var environment = Open(disk);
        using var load = await environment.BeginBulkLoadAsync(TableLoadKit.Texts, null, Token);
        using var other = await environment.BeginBulkLoadAsync(TableLoadKit.Numbers, null, Token);
        load.Put(Items[0]);
        await environment.DisposeAsync();
        load.Invoking(at => at.Put(Items[1])).Should().Throw<ObjectDisposedException>().WithMessage("*bulk load*");
        await other.Awaiting(at => at.CompleteAsync(Token)).Should().ThrowAsync<ObjectDisposedException>();
        load.Dispose();
        using var again = Open(disk);
        CheckAllOrNothing(again, isLoaded: false);
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

    /// <summary>The source runs without the writer.</summary>
    [Fact]
    public async Task Others_write_meanwhile()
    {
        using var environment = Open(new SimulatedDisk());
        var source = Items.Select((item, i) =>
        {
            if (i % 100 == 0)
                environment.Insert(TableKit.Plain(1), new Item($"{i}"));
            return item;
        });
        await environment.BulkLoadAsync(TableLoadKit.Texts, source, new BulkLoadOptions { MemoryBytes = 1 << 20 }, Token);
        environment.MustBeSound(TableKit.Plain(1), 15);
        CheckAllOrNothing(environment, isLoaded: true);
    }

    private static StorageEnvironment Open(SimulatedDisk disk) => StorageEnvironment.Open(disk, TableLoadKit.Options());

    private static async Task<VoronException?> TryLoadAsync(StorageEnvironment environment)
    {
        try
        {
            await environment.BulkLoadAsync(TableLoadKit.Texts, Items, new BulkLoadOptions { MemoryBytes = 1 << 20 }, Token);
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
        bool isThere;
        using (var reading = environment.BeginRead())
            isThere = reading.TryOpenTable(TableLoadKit.Texts, out _);
        if (isThere || isLoaded)
            environment.MustBeSound(TableLoadKit.Texts, isLoaded ? Items.Length : 0);
    }

    // Not inlined, so that nothing on the stack refers to the load.
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static void Forget(StorageEnvironment environment)
    {
        var load = StagingTestKit.Wait(environment.BeginBulkLoadAsync(TableLoadKit.Texts, null, Token));
        load.Put(Items[0] with { Text = new string('x', 100_000) });
        environment.GetStatistics().StagedBytes.Should().BePositive();
    }
}
