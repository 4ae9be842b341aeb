using System.Text;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Trees;

namespace Voron.Tests.Dropping;

/// <summary>A dropped tree loses its name at once and its pages in steps, whatever else happens meanwhile.</summary>
public sealed class DropTreeTests : IDisposable
{
    /// <summary>The number of small trees that are dropped one after the other.</summary>
    private const int Small = 40;

    private readonly TestDirectory _directory = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _directory.Dispose();

    [Theory]
    [InlineData(0, 0)]
    [InlineData(5, 10)]
    [InlineData(40_000, 300)]
    [InlineData(2_000, 9_000)]
    [InlineData(60, 300_000)]
    public async Task All_pages_are_free_in_the_end_and_the_name_at_once(int entries, int length)
    {
        using var environment = Open();
        Fill(environment, "kept", 3_000, 300);
        var before = await SettleAsync(environment);
        Fill(environment, "dropped", entries, length);

        (await environment.DropTreeAsync("dropped", Token)).Should().BeTrue();
        (await environment.DropTreeAsync("dropped", Token)).Should().BeFalse();

        (await SettleAsync(environment)).Should().Be(before);
        using (var reading = environment.BeginRead())
            reading.GetTreeNames().Should().Equal("kept");
        Fill(environment, "dropped", 10, 10);
        environment.Verify().Entries.Should().Be(3_010);
    }

    /// <summary>With values in the leaf, outside of it, and so long that few of them are a step.</summary>
    [Theory]
    [InlineData(3_000, 300, 1)]
    [InlineData(3_000, 300, 37)]
    [InlineData(20_000, 300, 5_000)]
    [InlineData(400, 9_000, 10)]
    [InlineData(30, 100_000, 1)]
    public void What_a_step_leaves_is_sound(int entries, int length, int most)
    {
        using var environment = Open();
        Fill(environment, "kept", 100, 300);
        Fill(environment, "dropped", entries, length);
        Begin(environment, "dropped");
        for (var steps = 0; Step(environment, most) is var freed && freed >= 0; steps++)
        {
            freed.Should().BeInRange(1, most + 40);
            if (steps % 50 > 3)
                continue;
            var report = environment.Verify();
            report.Problems.Should().BeEmpty();
            report.Trees.Should().Be(1, "a dropped tree is none of the user's");
            report.Entries.Should().Be(100);
        }

        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Equal("kept");
    }

    [Fact]
    public async Task A_reader_keeps_the_tree_that_it_has_open()
    {
        using var environment = Open();
        Fill(environment, "dropped", 20_000, 300);
        using (var reading = environment.BeginRead())
        {
            var tree = reading.OpenTree("dropped");
            await environment.DropTreeAsync("dropped", Token);
            Fill(environment, "other", 20_000, 300);
            var count = 0;
            foreach (var entry in tree.Range(KeyRange.All))
                count += entry.Value.Length == 300 ? 1 : 0;
            count.Should().Be(20_000);
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Otherwise the memory for freed pages would grow for as long as the reader stays open.</summary>
    [Fact]
    public async Task A_reader_that_keeps_the_flusher_back_stops_a_large_drop_until_it_ends()
    {
        using var environment = Open();
        Fill(environment, "dropped", 7_000, 30_000);
        var reading = environment.BeginRead();
        var dropping = environment.DropTreeAsync("dropped", Token).AsTask();

        // Of 229 MB, the drop frees twice 64 MB, and waits then until the flusher has passed the first half.
        await TestWait.UntilAsync(() => PagesLeft(environment) is > 0 and < 30_000);
        await TestWait.GiveTimeForAsync(() => dropping.IsCompleted);
        dropping.IsCompleted.Should().BeFalse();
        Fill(environment, "other", 10, 10);
        reading.Dispose();
        (await dropping.WaitAsync(TestWait.Limit, Token)).Should().BeTrue();
        environment.Verify().Problems.Should().BeEmpty();
        Step(environment, 1).Should().Be(-1);
    }

    [Fact]
    public async Task Several_drops_run_side_by_side_with_writers()
    {
        using var environment = Open();
        for (var i = 0; i < 6; i++)
            Fill(environment, $"dropped{i}", 5_000, 300);
        var drops = Enumerable.Range(0, 6).Select(i => environment.DropTreeAsync($"dropped{i}", Token).AsTask()).ToArray();
        var written = 0;
        while (!Task.WhenAll(drops).IsCompleted || written < 20)
            Fill(environment, $"new{written++ % 6}", 100, 300);
        (await Task.WhenAll(drops)).Should().AllBeEquivalentTo(true);
        environment.Verify().Problems.Should().BeEmpty();
        Step(environment, 1).Should().Be(-1);
    }

    [Fact]
    public async Task A_call_that_is_cancelled_before_it_begins_drops_nothing()
    {
        using var environment = Open();
        Fill(environment, "kept", 3_000, 300);
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();
        var dropping = async () => await environment.DropTreeAsync("kept", stop.Token);
        (await dropping.Should().ThrowAsync<OperationCanceledException>()).WithMessage("*'kept'*");
        using var reading = environment.BeginRead();
        reading.OpenTree("kept").Count.Should().Be(3_000);
    }

    [Fact]
    public async Task A_call_that_is_cancelled_leaves_the_pages_to_the_background()
    {
        using var environment = Open(new StorageOptions());
        Fill(environment, "dropped", 40_000, 300);
        using var stop = new CancellationTokenSource();
        var dropping = environment.DropTreeAsync("dropped", stop.Token).AsTask();
        while (HasTree(environment, "dropped"))
            await Task.Yield();
        await stop.CancelAsync();
        await ((Task)dropping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
        await UntilGoneAsync(environment);
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>Closed in whatever state it is, ten times: nothing is lost, and the rest of the pages is freed after an opening.</summary>
    [Fact]
    public async Task Closing_ends_a_drop_and_an_opening_continues()
    {
        for (var round = 0; round < 10; round++)
        {
            Task dropping;
            using (var environment = Open(new StorageOptions()))
            {
                Fill(environment, "kept", 100, 300);
                Fill(environment, "dropped", 20_000, 300);
                dropping = environment.DropTreeAsync("dropped", Token).AsTask();
                var wanted = environment.GetStatistics().PublishedTransactionId + round;
                await TestWait.UntilAsync(() => dropping.IsCompleted || environment.GetStatistics().PublishedTransactionId >= wanted);
            }

            await dropping.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            if (!dropping.IsCompletedSuccessfully)
                dropping.Exception!.InnerException.Should().BeOfType<ObjectDisposedException>();
            using var again = Open(new StorageOptions());
            again.Verify().Problems.Should().BeEmpty();
            await UntilGoneAsync(again);
            HasTree(again, "kept").Should().BeTrue();
            await again.DropTreeAsync("dropped", Token);
        }
    }

    [Fact]
    public async Task Without_a_background_the_rest_waits_for_the_next_drop()
    {
        using (var environment = Open())
        {
            Fill(environment, "dropped", 20_000, 300);
            Fill(environment, "other", 10, 10);
            Begin(environment, "dropped");
            Step(environment, 100);
        }

        using var again = Open();
        again.Internals.Dropper!.IsRunning.Should().BeFalse();
        Step(again, 1).Should().Be(1, "nothing has been freed meanwhile");
        await again.DropTreeAsync("other", Token);
        await UntilGoneAsync(again);
        again.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Backups_copies_compactions_and_salvages_leave_no_trace_of_a_dropped_tree()
    {
        using (var environment = Open())
        {
            Fill(environment, "dropped", 20_000, 300);
            Fill(environment, "kept", 1_000, 300);
            Fill(environment, "values", 300, 9_000);
            Begin(environment, "dropped");
            Begin(environment, "values");
            Step(environment, 500);
            await environment.BackupAsync(Place("backup"), null, Token);
            await environment.CompactToAsync(Place("dense"), null, Token);
            await environment.CompactAsync(null, Token);
            environment.Verify().Problems.Should().BeEmpty();
        }

        await BackupFile.RestoreAsync(Place("backup"), Place("restored"), null, Token);
        var report = await Salvage.RunAsync(Place("environment"), Place("salvaged"), null, Token);
        report.Trees.Select(tree => tree.Name).Should().Equal("kept");
        report.Damage.Should().BeEmpty();
        report.HasLosses.Should().BeFalse();
        report.ExpectedTrees.Should().Be(1);
        foreach (var (place, isLeft) in new[] { ("dense", false), ("restored", true), ("salvaged", false) })
        {
            using var environment = StorageEnvironment.Open(Place(place), new StorageOptions { BackgroundFlush = false });
            environment.Verify().Problems.Should().BeEmpty();
            using (var reading = environment.BeginRead())
            {
                reading.GetTreeNames().Should().Equal("kept");
                reading.OpenTree("kept").Count.Should().Be(1_000);
            }

            (Step(environment, 1) >= 0).Should().Be(isLeft, place);
        }
    }

    [Fact]
    public async Task A_full_disk_can_be_emptied()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Fill(environment, "dropped", 40_000, 300);
        disk.SpaceLimit = disk.UsedBytes;
        (await environment.DropTreeAsync("dropped", Token).AsTask().WaitAsync(TestWait.Limit, Token)).Should().BeTrue();
        environment.Verify().Problems.Should().BeEmpty();
        Step(environment, 1).Should().Be(-1);
    }

    /// <summary>A commit of the drop that fails must undo nothing of the writer that comes next.</summary>
    [Fact]
    public async Task A_drop_that_finds_no_room_fails_alone_and_continues_when_there_is_room()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Fill(environment, "dropped", 40_000, 300);
        Begin(environment, "dropped");
        for (var i = 0; i < Small; i++)
            Fill(environment, $"small{i}", 10, 300);
        environment.Flush();

        // Neither another journal file nor a flush.
        var isFull = true;
        disk.FailNext(
            call => isFull && (call.Kind == DiskCallKind.Create || (call.Kind == DiskCallKind.Write && call.Name == DataFile.FileName)),
            DiskError.NoSpace, forever: true);
        var written = new List<int>();
        using var metFull = new ManualResetEventSlim();
        var writing = Task.Run(() => WriteUntilFull(environment, written, metFull, () => !Volatile.Read(ref isFull)), Token);
        metFull.Wait(TestWait.Limit, Token).Should().BeTrue();
        var failures = 0;
        for (var i = 0; i < Small; i++)
        {
            var dropping = environment.DropTreeAsync($"small{i}", Token).AsTask();
            await ((Task)dropping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            if (!dropping.IsFaulted)
                continue;
            dropping.Exception!.InnerException.Should().BeOfType<StorageFullException>();
            failures++;
        }

        failures.Should().BePositive();
        Volatile.Write(ref isFull, false);
        await writing;
        environment.Flush();
        for (var i = 0; i < Small; i++)
            await environment.DropTreeAsync($"small{i}", Token);
        Fill(environment, "last", 10, 10);
        await environment.DropTreeAsync("last", Token);
        await UntilGoneAsync(environment);
        environment.Verify().Problems.Should().BeEmpty();
        using var reading = environment.BeginRead();
        foreach (var i in written)
            reading.OpenTree("written").Contains(FaultTestKit.Key(i)).Should().BeTrue($"key {i} was acknowledged");
    }

    // Each transaction is open for a moment, in which no other caller may end it.
    private static void WriteUntilFull(StorageEnvironment environment, List<int> written, ManualResetEventSlim metFull, Func<bool> isOver)
    {
        for (var i = 0; !isOver(); i++)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree("written");
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 500));
            Thread.Yield();
            tree.Get(FaultTestKit.Key(i)).Should().Equal(FaultTestKit.Value(i, 500));
            try
            {
                writing.Commit();
                written.Add(i);
            }
            catch (StorageFullException)
            {
                metFull.Set();
            }
        }
    }

    /// <summary>A wrong entry leads to the pages of another tree, which must stay, and must not keep others from being freed.</summary>
    [Fact]
    public async Task A_damaged_tree_is_passed_over()
    {
        using var environment = Open();
        Fill(environment, "kept", 3_000, 300);
        Fill(environment, "dropped", 20_000, 300);
        using (var writing = environment.BeginWrite())
        {
            Catalog.TryFind(writing.Body.Catalog, writing.Body.WritePages, "kept"u8, out var header).Should().BeTrue();
            header.TreeId = 0;
            Catalog.Create(writing.Body.WritePages, writing.Body.Catalog, SystemTree.DroppedName(0, new byte[SystemTree.DroppedNameBytes]), header);
            writing.Commit();
        }

        (await environment.DropTreeAsync("dropped", Token).AsTask().WaitAsync(TestWait.Limit, Token)).Should().BeTrue();
        using var reading = environment.BeginRead();
        var count = 0;
        foreach (var entry in reading.OpenTree("kept").Range(KeyRange.All))
            count += entry.Value.Length == 300 ? 1 : 0;
        count.Should().Be(3_000);
        using var body = environment.BeginWrite();
        body.Body.FindDroppedTree(1).IsFound.Should().BeFalse("the other tree has no pages left");
        body.Body.FindDroppedTree(0).IsFound.Should().BeTrue();
    }

    [Fact]
    public async Task Wrong_calls_say_what_is_wrong()
    {
        using (var environment = Open())
        {
            Fill(environment, "kept", 10, 10);
            (await environment.DropTreeAsync("missing", Token)).Should().BeFalse();
            await FluentActions.Awaiting(() => environment.DropTreeAsync("", Token).AsTask()).Should().ThrowAsync<ArgumentException>();
            await FluentActions.Awaiting(() => environment.DropTreeAsync(null!, Token).AsTask()).Should().ThrowAsync<ArgumentNullException>();
            FluentActions.Invoking(() => environment.Write(_ => environment.DropTreeAsync("kept", Token).AsTask().GetAwaiter().GetResult()))
                .Should().Throw<InvalidOperationException>();
        }

        using var readOnly = Open(new StorageOptions { ReadOnly = true });
        await FluentActions.Awaiting(() => readOnly.DropTreeAsync("kept", Token).AsTask()).Should().ThrowAsync<InvalidOperationException>();
    }

    private static void Fill(StorageEnvironment environment, string name, int entries, int length)
    {
        for (var from = 0; from <= entries; from += 1000)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(name);
            for (var i = from; i < Math.Min(entries, from + 1000); i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, length));
            writing.Commit();
        }
    }

    private static void Begin(StorageEnvironment environment, string name)
    {
        using var writing = environment.BeginWrite();
        writing.Body.DropTree(Encoding.UTF8.GetBytes(name), fewPages: 0).IsFound.Should().BeTrue();
        writing.Commit();
    }

    private static long Step(StorageEnvironment environment, int most)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.Body.FindDroppedTree(0);
        if (!tree.IsFound)
            return -1;
        writing.Body.CutDroppedTree(tree.Id, most, out var freed);
        writing.Commit();
        return freed;
    }

    // The pages in use when nothing is left to be flushed.
    private static async Task<long> SettleAsync(StorageEnvironment environment)
    {
        environment.Flush();
        await Task.Yield();
        var report = environment.Verify();
        report.Problems.Should().BeEmpty();
        return report.UsedPages;
    }

    private static bool HasTree(StorageEnvironment environment, string name)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(name, out _);
    }

    private static long PagesLeft(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetDroppedTrees().Sum(tree => tree.Pages);
    }

    private static Task UntilGoneAsync(StorageEnvironment environment) => TestWait.UntilAsync(() => Step(environment, 1) < 0);

    private string Place(string name) => Path.Combine(_directory, name);

    private StorageEnvironment Open(StorageOptions? options = null) =>
        StorageEnvironment.Open(Place("environment"), options ?? new StorageOptions { BackgroundFlush = false });
}
