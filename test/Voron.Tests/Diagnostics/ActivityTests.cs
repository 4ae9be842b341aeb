using System.Diagnostics;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>The engine's work appears in the traces of its callers. Alone, because the source of activities belongs to the process.</summary>
[Collection(nameof(Alone))]
public sealed class ActivityTests : IDisposable
{
    private static int NextTest;

    private readonly Activity _request = new Activity("request").Start();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    // Another one for each test: the last flush of an environment that has just been closed may be reported during the next test.
    private string Name { get; } = $"traced-{Interlocked.Increment(ref NextTest)}";

    public void Dispose() => _request.Dispose();

    [Fact]
    public async Task A_backup_is_a_child_of_the_activity_of_its_caller()
    {
        using var records = new ActivityRecords(Name);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 1000));
        var report = await environment.BackupAsync(Stream.Null, null, Cancellation);
        var call = async () => await environment.BackupAsync(Stream.Null, new BackupOptions { Since = Guid.AllBitsSet }, Cancellation);
        await call.Should().ThrowAsync<BackupException>();
        var backups = records.WaitFor("voron.backup", 2);
        backups.Select(backup => backup.ParentId).Should().AllBe(_request.Id);
        Tag(backups[0], "voron.pages").Should().Be(report.Pages);
        Tag(backups[0], "voron.bytes").Should().Be(report.Bytes);
        backups.Select(backup => backup.Status).Should().Equal(ActivityStatusCode.Unset, ActivityStatusCode.Error);
    }

    [Fact]
    public async Task Commits_flushes_and_verifications_are_children_of_the_activity_of_their_caller()
    {
        using var records = new ActivityRecords(Name);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 1000));
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
            await writing.CommitAsync(Cancellation);
        }

        var commits = records.WaitFor("voron.commit", 2);
        commits.Should().HaveCount(2);
        commits.Select(commit => Tag(commit, "voron.transaction.id")).Should().Equal(1L, 2L);
        var report = environment.Flush();
        environment.Verify().IsSound.Should().BeTrue();
        var flush = records.WaitFor("voron.flush", 1).Should().ContainSingle().Which;
        Tag(flush, "voron.transaction.id").Should().Be(2L);
        Tag(flush, "voron.pages").Should().Be(report!.Value.Pages);
        Tag(flush, "voron.bytes").Should().Be(report.Value.Bytes);
        Tag(flush, "voron.transactions").Should().Be(2L);
        var verification = records.WaitFor("voron.verification", 1).Should().ContainSingle().Which;
        Tag(verification, "voron.trees").Should().Be(1);
        Tag(verification, "voron.problems").Should().Be(0);
        var opening = records.WaitFor("voron.open", 1).Should().ContainSingle().Which;
        Tag(opening, "voron.page_size").Should().Be(4096);
        foreach (var activity in records.Ended)
        {
            activity.ParentSpanId.Should().Be(_request.SpanId, activity.OperationName);
            activity.TraceId.Should().Be(_request.TraceId);
            activity.Kind.Should().Be(ActivityKind.Internal);
            activity.Status.Should().Be(ActivityStatusCode.Unset);
            activity.Duration.Should().BePositive().And.BeLessThan(TestWait.Limit);
            activity.StartTimeUtc.Should().BeAfter(_request.StartTimeUtc.AddSeconds(-1)).And.BeBefore(DateTime.UtcNow.AddSeconds(1));
            activity.Source.Version.Should().NotBeEmpty();
            (Tag(activity, "db.system.name"), Tag(activity, "db.namespace"), Tag(activity, "db.operation.name"))
                .Should().Be(("voron", Name, activity.OperationName["voron.".Length..]));
        }

        commits.Should().OnlyContain(commit => (int)Tag(commit, "voron.pages")! > 0 && (long)Tag(commit, "voron.bytes")! > 0);
        Activity.Current.Should().Be(_request);
        records.Ended.Should().HaveCount(5);
    }

    [Fact]
    public void A_recovery_is_a_child_of_its_opening()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        FaultTestKit.Put(environment, 2, [2]);
        using var records = new ActivityRecords(Name);
        using var recovered = StorageEnvironment.Open(FaultTestKit.DiskOf(FaultTestKit.Bytes(disk)), Options());
        var opening = records.WaitFor("voron.open", 1).Single();
        Tag(opening, "voron.transactions").Should().Be(2L);
        var recovery = records.WaitFor("voron.recovery", 1).Single();
        recovery.ParentSpanId.Should().Be(opening.SpanId);
        Tag(recovery, "voron.transaction.id").Should().Be(2L);
        ((long)Tag(recovery, "voron.records")!).Should().BeGreaterThanOrEqualTo(2);
        ((long)Tag(recovery, "voron.bytes")!).Should().BePositive();
    }

    [Fact]
    public async Task Failures_are_named()
    {
        using var records = new ActivityRecords(Name);
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        FaultTestKit.Put(environment, 1, [1]);
        using (var writing = environment.BeginWrite())
        {
            var nested = writing.BeginNested();
            writing.Invoking(open => open.Commit()).Should().Throw<InvalidOperationException>();
            nested.Dispose();
        }

        records.WaitFor("voron.commit", 2)[1].Status.Should().Be(ActivityStatusCode.Error);
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.Failed, forever: true);
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("other");
            await FluentActions.Awaiting(() => writing.CommitAsync(Cancellation).AsTask()).Should().ThrowAsync<EnvironmentPoisonedException>();
        }

        var failed = records.WaitFor("voron.commit", 3)[2];
        failed.Status.Should().Be(ActivityStatusCode.Error);
        failed.StatusDescription.Should().Contain("planted");
        Tag(failed, "error.type").Should().Be("Voron.EnvironmentPoisonedException");
        failed.Events.Should().ContainSingle().Which.Name.Should().Be("exception");
        FluentActions.Invoking(() => environment.Flush()).Should().Throw<EnvironmentPoisonedException>();

        FluentActions.Invoking(() => StorageEnvironment.Open(disk, Options())).Should().Throw<EnvironmentInUseException>();
        var opening = records.WaitFor("voron.open", 2)[1];
        (opening.Status, Tag(opening, "error.type")).Should().Be((ActivityStatusCode.Error, "Voron.EnvironmentInUseException"));
        Activity.Current.Should().Be(_request);
    }

    [Fact]
    public void A_flush_and_a_verification_in_the_background_have_no_parent()
    {
        using var records = new ActivityRecords(Name);
        using var environment = StorageEnvironment.Open(
            new SimulatedDisk(),
            new StorageOptions { Name = Name, FlushInterval = TimeSpan.FromMilliseconds(1), ScrubInterval = TimeSpan.FromMilliseconds(50) });
        FaultTestKit.Put(environment, 1, [1]);
        foreach (var activity in (Activity[])[records.WaitFor("voron.flush", 1)[0], records.WaitFor("voron.verification", 1)[0]])
        {
            activity.ParentSpanId.Should().Be(default(ActivitySpanId), activity.OperationName);
            activity.TraceId.Should().NotBe(_request.TraceId);
        }

        ((long)Tag(records.WaitFor("voron.verification", 2)[1], "voron.bytes")!).Should().BePositive();
    }

    [Fact]
    public async Task Operations_that_share_a_commit_have_links_to_it()
    {
        using var records = new ActivityRecords(Name);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        using var isRunning = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var first = environment.WriteAsync(
            writing =>
            {
                isRunning.Set();
                mayGoOn.Wait(TestWait.Limit);
                writing.CreateTree("a");
            },
            Cancellation).AsTask();
        isRunning.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        Activity? inside = null;
        var second = environment.WriteAsync(
            writing =>
            {
                inside = Activity.Current;
                writing.CreateTree("b");
            },
            Cancellation).AsTask();
        var third = environment.WriteAsync((Action<WriteTransaction>)(_ => throw new PlannedException()), Cancellation).AsTask();
        Activity.Current.Should().Be(_request, "the caller's activity is its own again");
        mayGoOn.Set();
        await Task.WhenAll(first, second).WaitAsync(TestWait.Limit, Cancellation);
        await FluentActions.Awaiting(() => third).Should().ThrowAsync<PlannedException>();

        var writes = records.WaitFor("voron.write", 3);
        writes.Should().OnlyContain(write => write.ParentSpanId == _request.SpanId);
        inside!.OperationName.Should().Be("voron.write", "the operation runs in its activity");
        var failed = writes.Single(write => write.Status == ActivityStatusCode.Error);
        Tag(failed, "error.type").Should().Be(typeof(PlannedException).FullName);
        failed.Links.Should().BeEmpty();
        foreach (var write in writes.Where(write => write != failed))
        {
            var id = Tag(write, "voron.transaction.id");
            var commit = records.WaitFor("voron.commit", 1).Single(commit => Tag(commit, "voron.transaction.id")!.Equals(id));
            write.Links.Should().ContainSingle().Which.Context.SpanId.Should().Be(commit.SpanId);
            if ((int)Tag(commit, "voron.operations")! == 1)
            {
                commit.ParentSpanId.Should().Be(write.SpanId);
                continue;
            }

            Tag(commit, "voron.operations").Should().Be(2);
            commit.ParentSpanId.Should().Be(default(ActivitySpanId));
            commit.TraceId.Should().NotBe(_request.TraceId);
        }
    }

    [Fact]
    public void An_operation_alone_has_the_commit_as_its_child()
    {
        using var records = new ActivityRecords(Name);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        environment.Write(writing => writing.CreateTree("a"));
        var write = records.WaitFor("voron.write", 1).Single();
        var commit = records.WaitFor("voron.commit", 1).Single();
        commit.ParentSpanId.Should().Be(write.SpanId);
        commit.TraceId.Should().Be(_request.TraceId);
        write.Links.Should().ContainSingle().Which.Context.SpanId.Should().Be(commit.SpanId);
        write.StartTimeUtc.Should().BeOnOrBefore(commit.StartTimeUtc.AddMilliseconds(20));
    }

    [Fact]
    public async Task A_cancelled_operation_ends_its_activity()
    {
        using var records = new ActivityRecords(Name);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        using var cancelling = new CancellationTokenSource();
        using var writing = environment.BeginWrite();
        var waiting = environment.WriteAsync(_ => { }, cancelling.Token).AsTask();
        await cancelling.CancelAsync();
        await FluentActions.Awaiting(() => waiting).Should().ThrowAsync<OperationCanceledException>();
        var write = records.WaitFor("voron.write", 1).Single();
        (write.Status, write.Links.Count()).Should().Be((ActivityStatusCode.Error, 0));
    }

    [Theory]
    [InlineData("sample")]
    [InlineData("started")]
    [InlineData("stopped")]
    public async Task A_listener_may_throw_at_any_point(string when)
    {
        using var records = new ActivityRecords(Name, (what, _) =>
        {
            if (what == when)
                throw new PlannedException();
        });
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options()))
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]));
            await environment.WriteAsync(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), [3]), Cancellation);
            environment.Flush().Should().NotBeNull();
            environment.Verify().IsSound.Should().BeTrue();
            Activity.Current.Should().Be(_request);
            environment.GetStatistics().IsPoisoned.Should().BeFalse();
        }

        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 1; i <= 3; i++)
            FaultTestKit.Get(reopened, i).Should().Equal((byte)i);
    }

    /// <summary>A listener that ran while the writer was held would wait for itself.</summary>
    [Theory]
    [InlineData("sample")]
    [InlineData("started")]
    [InlineData("stopped")]
    public void A_listener_may_write_at_any_point(string when)
    {
        StorageEnvironment? environment = null;
        var depth = 0;
        var writes = 0;
        using var records = new ActivityRecords(Name, (what, _) =>
        {
            // The writes have activities too.
            if (what != when || environment == null || Interlocked.Increment(ref depth) > 1)
                return;
            FaultTestKit.Put(environment, 100, [1]);
            environment.Write(writing => writing.CreateTree("grouped"));
            writes++;
            Interlocked.Exchange(ref depth, 0);
        });
        environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        var working = new TestThread(() =>
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Write(writing => writing.CreateTree("operation"));
            environment.Flush();
            environment.Verify();
        });
        working.Join().Should().BeNull();
        TestWait.Until(() => Volatile.Read(ref writes) > 0);
        new TestThread(environment.Dispose).Join().Should().BeNull();
    }

    [Fact]
    public async Task A_listener_that_blocks_in_the_background_holds_nothing_up()
    {
        using var mayReturn = new ManualResetEventSlim();
        using var records = new ActivityRecords(Name, (what, activity) =>
        {
            if (what == "sample" && activity == "voron.flush")
                mayReturn.Wait(TestWait.Limit);
        });
        var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        FaultTestKit.Put(environment, 1, [1]);
        new TestThread(() => environment.Flush()).Join().Should().BeNull();
        for (var i = 0; i < 10; i++)
            await environment.WriteAsync(writing => writing.CreateTree("grouped"), Cancellation).AsTask().WaitAsync(TestWait.Limit, Cancellation);
        FaultTestKit.Put(environment, 2, [2]);
        new TestThread(environment.Dispose).Join().Should().BeNull();
        mayReturn.Set();
    }

    private static object? Tag(Activity activity, string key) => activity.GetTagItem(key);

    private StorageOptions Options() => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        Name = Name,
    };

    private sealed class PlannedException() : Exception("planned");
}
