using System.Diagnostics.Metrics;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>The meter shows what the engine does, under names that are documented, and nothing of environments that are closed.</summary>
public sealed class MeterTests
{
    /// <summary>The name of the environments, which no other class uses.</summary>
    private const string Name = "metered";

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public void The_table_of_instruments_is_that_of_the_code()
    {
        using var factory = new TestMeterFactory();
        using var environment = StorageEnvironment.OpenInMemory(Options(factory));
        using var records = new MeterRecords(factory);
        var documented = DocumentedTable.Read("docs/monitoring.md", "instrument", "kind", "unit", "meaning");
        documented.Select(row => (row[0], row[1], row[2])).Should().BeEquivalentTo(
            records.Instruments.Select(instrument => (instrument.Name, KindOf(instrument), instrument.Unit)));
        records.Instruments.Should().OnlyContain(instrument => instrument.Description!.Length > 10);
        records.Instruments.OfType<Histogram<double>>().Should().OnlyContain(
            histogram => histogram.Unit == "s" && histogram.Advice!.HistogramBucketBoundaries!.Count > 10);
        records.Instruments.Should().OnlyContain(instrument => Regex.IsMatch(instrument.Meter.Version!, @"^\d+\.\d+\.\d+$"));
    }

    [Fact]
    public async Task The_instruments_show_what_was_done()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(factory));
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 1000));
        using (var writing = environment.BeginWrite())
        {
            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
            await writing.CommitAsync(Cancellation);
        }

        await environment.WriteAsync(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(3), [3]), Cancellation);
        environment.Write(writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(4), [4]));
        environment.BeginWrite().Dispose();
        var commits = records.WaitFor("voron.commit.duration", 4);
        commits.Should().HaveCount(4).And.OnlyContain(seconds => seconds > 0 && seconds < TestWait.Limit.TotalSeconds);
        records.WaitFor("voron.writer.wait.duration", 5).Should().HaveCount(5).And.OnlyContain(seconds => seconds >= 0);
        environment.Flush();
        records.WaitFor("voron.flush.duration", 1).Should().HaveCount(1);
        using var reading = environment.BeginRead();
        var values = records.Observe(Name);
        var statistics = environment.GetStatistics();
        values["voron.commits"].Should().Be(4).And.Be(statistics.CommittedTransactions);
        values["voron.rollbacks"].Should().Be(1);
        values["voron.operations"].Should().Be(2);
        values["voron.queued_operations"].Should().Be(0);
        values["voron.readers"].Should().Be(1);
        values["voron.reader.oldest.age"].Should().BeInRange(0, TestWait.Limit.TotalSeconds);
        values["voron.journal.written"].Should().Be(statistics.JournalBytes).And.BePositive();
        values["voron.journal.writes"].Should().Be(statistics.JournalWrites);
        values["voron.journal.write.time"].Should().Be(statistics.JournalWriteTime.TotalSeconds);
        values["voron.journal.live"].Should().Be(statistics.LiveJournalBytes);
        values["voron.journal.limit"].Should().Be(environment.Options.JournalLimitBytes);
        values["voron.journal.size"].Should().Be(statistics.TotalJournalBytes);
        values["voron.flush.pages"].Should().Be(statistics.FlushedPages).And.BePositive();
        values["voron.flush.written"].Should().Be(statistics.FlushedBytes).And.BePositive();
        values["voron.scratch.used"].Should().Be(statistics.VersionBytes);
        values["voron.data_file.size"].Should().Be(statistics.DataFileBytes);
        values["voron.data_file.free"].Should().Be(statistics.FreeDataFileBytes);
        values["voron.poisoned"].Should().Be(0);
        values["voron.backpressure.active"].Should().Be(0);
        values["voron.recoveries"].Should().Be(0);
        values.Should().HaveCount(records.Instruments.Count(instrument => instrument.IsObservable) - 1, "the simulated disk has no volume");
        values.Should().NotContainKey("voron.volume.free");
        records.Recorded.Should().OnlyContain(found => found.Environment == Name);
    }

    [Fact]
    public void A_recovery_and_a_failed_write_are_seen()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(factory));
        FaultTestKit.Put(environment, 1, [1]);
        using var recovered = StorageEnvironment.Open(FaultTestKit.DiskOf(FaultTestKit.Bytes(disk)), Options(factory));
        records.WaitFor("voron.recovery.duration", 1).Should().ContainSingle().Which.Should().BePositive();
        recovered.Name.Should().Be(Name + "#2");
        records.Observe(Name + "#2")["voron.recoveries"].Should().Be(1);
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.Failed, forever: true);
        environment.Invoking(open => FaultTestKit.Put(open, 2, [2])).Should().Throw<EnvironmentPoisonedException>();
        records.Observe(Name)["voron.poisoned"].Should().Be(1);
        records.Observe(Name + "#2")["voron.poisoned"].Should().Be(0);
    }

    [Fact]
    public void Environments_of_one_name_have_different_tags_which_are_used_again()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        var options = new StorageOptions { BackgroundFlush = false, MeterFactory = factory, Name = "orders" };
        using var first = StorageEnvironment.OpenInMemory(options);
        var second = StorageEnvironment.OpenInMemory(options);
        using var third = StorageEnvironment.OpenInMemory(options);
        new[] { first.Name, second.Name, third.Name }.Should().Equal("orders", "orders#2", "orders#3");
        Names().Should().BeEquivalentTo("orders", "orders#2", "orders#3");
        second.Dispose();
        second.Name.Should().Be("orders#2");
        Names().Should().BeEquivalentTo("orders", "orders#3");
        using (var fourth = StorageEnvironment.OpenInMemory(options))
            fourth.Name.Should().Be("orders#2", "the number is free again");
        second.Dispose();
        factory.Calls.Should().Be(4, "each opening asks for the meter once");
        records.Instruments.Select(instrument => instrument.Name).Should().OnlyHaveUniqueItems("environments share their instruments");

        IEnumerable<string> Names() => records.Observe().Select(found => found.Environment).Distinct();
    }

    [Fact]
    public void A_read_only_environment_has_the_figures_that_it_can_have()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
            FaultTestKit.Put(environment, 1, [1]);
        disk = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
        disk.IsReadOnly = true;
        using var reading = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true, MeterFactory = factory, Name = Name });
        var values = records.Observe(Name);
        values["voron.commits"].Should().Be(0);
        values["voron.data_file.size"].Should().BePositive();
        values.Should().NotContainKeys("voron.journal.written", "voron.data_file.free", "voron.reader.oldest.age");
        reading.GetStatistics().FreeDataFileBytes.Should().BeNull();
    }

    [Fact]
    public void A_closed_environment_is_collected_although_its_meter_is_listened_to()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        var closed = OpenAndClose(factory);
        records.Observe().Should().BeEmpty();
        TestWait.Until(
            () =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                return !closed.TryGetTarget(out _);
            });
        records.Observe().Should().BeEmpty();
    }

    [Fact]
    public void The_listener_reads_while_an_environment_is_closed_by_another_thread()
    {
        using var factory = new TestMeterFactory();
        using var records = new MeterRecords(factory);
        for (var round = 0; round < 30; round++)
        {
            var environment = StorageEnvironment.OpenInMemory(Options(factory));
            var reading = environment.BeginRead();
            FaultTestKit.Put(environment, 1, [1]);
            using var closing = new Barrier(2);
            var close = new TestThread(() =>
            {
                closing.SignalAndWait(Cancellation);
                environment.Dispose();
                reading.Dispose();
            });
            closing.SignalAndWait(Cancellation);
            var observed = 1;
            for (var i = 0; observed > 0 && i < 1_000_000; i++)
                observed = records.Observe().Count;
            close.Join().Should().BeNull();
            records.Observe().Should().BeEmpty();
        }
    }

    [Fact]
    public void A_factory_that_throws_ends_the_opening_and_nothing_else()
    {
        var disk = new SimulatedDisk();
        using var factory = new TestMeterFactory { Failure = new ObjectDisposedException("factory") };
        FluentActions.Invoking(() => StorageEnvironment.Open(disk, Options(factory)))
            .Should().Throw<ObjectDisposedException>().WithMessage("*factory*");
        disk.HeldLocks.Should().Be(0);
        disk.List().Should().BeEmpty("nothing was made");
    }

    [Fact]
    public void A_name_must_not_be_empty() =>
        FluentActions.Invoking(() => StorageEnvironment.OpenInMemory(new StorageOptions { Name = "" }))
            .Should().Throw<ArgumentException>().WithMessage("*Name is empty*");

    [Theory]
    [InlineData("throw")]
    [InlineData("write")]
    [InlineData("flush")]
    [InlineData("group commit")]
    [InlineData("dispose")]
    public void A_listener_may_call_the_environment(string what)
    {
        using var factory = new TestMeterFactory();
        var disk = new SimulatedDisk();
        StorageEnvironment? environment = null;
        var calls = 0;
        using var called = new SemaphoreSlim(0);
        Exception? failure = null;
        using var records = new MeterRecords(factory, instrument =>
        {
            if (instrument != "voron.commit.duration" || Interlocked.Increment(ref calls) > 1)
                return;
            try
            {
                Call(environment!, what);
            }
            catch (Exception e) when (e is not PlannedException)
            {
                failure = e;
            }
            finally
            {
                called.Release();
            }
        });
        environment = StorageEnvironment.Open(disk, Options(factory));
        var working = new TestThread(() => FaultTestKit.Put(environment, 1, [1]));
        working.Join().Should().BeNull();
        called.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        failure.Should().BeNull();
        new TestThread(environment.Dispose).Join().Should().BeNull();
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 1).Should().Equal(1);
    }

    [Fact]
    public async Task A_listener_that_blocks_keeps_neither_other_commits_nor_the_closing()
    {
        using var factory = new TestMeterFactory();
        using var mayReturn = new ManualResetEventSlim();
        using var records = new MeterRecords(factory, _ => mayReturn.Wait(TestWait.Limit));
        var environment = StorageEnvironment.OpenInMemory(Options(factory));
        for (var i = 0; i < 20; i++)
        {
            await environment.WriteAsync(writing => writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), [1]), Cancellation)
                .AsTask().WaitAsync(TestWait.Limit, Cancellation);
        }

        new TestThread(environment.Dispose).Join().Should().BeNull();
        mayReturn.Set();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference<StorageEnvironment> OpenAndClose(TestMeterFactory factory)
    {
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions { MeterFactory = factory });
        FaultTestKit.Put(environment, 1, [1]);
        environment.Dispose();
        return new WeakReference<StorageEnvironment>(environment);
    }

    private static void Call(StorageEnvironment environment, string what)
    {
        switch (what)
        {
            case "throw":
                throw new PlannedException();
            case "write":
                FaultTestKit.Put(environment, 2, [2]);
                break;
            case "flush":
                environment.Flush();
                break;
            case "group commit":
                environment.Write(writing => writing.CreateTree("grouped"));
                break;
            default:
                environment.Dispose();
                break;
        }
    }

    private static string KindOf(Instrument instrument) => instrument.GetType().Name.Split('`')[0] switch
    {
        "Histogram" => "histogram",
        "ObservableCounter" => "counter",
        "ObservableUpDownCounter" => "up-down counter",
        "ObservableGauge" => "gauge",
        var other => other,
    };

    private static StorageOptions Options(TestMeterFactory factory) => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        MeterFactory = factory,
        Name = Name,
    };

    private sealed class PlannedException() : Exception("planned");
}
