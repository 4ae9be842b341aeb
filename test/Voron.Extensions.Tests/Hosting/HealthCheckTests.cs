using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;
using Voron.Extensions.Hosting;
using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>The health check sees each thing that goes wrong, on an engine in which it does.</summary>
public sealed class HealthCheckTests
{
    private static readonly StorageOptions Quiet = new() { BackgroundFlush = false, ScrubInterval = Timeout.InfiniteTimeSpan };

    [Fact]
    public async Task An_open_environment_is_healthy_and_a_closed_one_is_not()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:Directory", "data"), ("Voron:HealthCheck:MinVolumeFreeBytes", "1"));
        builder.Services.AddVoron();
        using var host = builder.Build();
        (await HostKit.CheckHealthAsync(host.Services)).Description.Should().Contain("not been opened yet");
        await host.StartAsync(TestContext.Current.CancellationToken);
        var health = await HostKit.CheckHealthAsync(host.Services);
        health.Status.Should().Be(HealthStatus.Healthy);
        health.Tags.Should().Equal("voron");
        health.Data[nameof(EnvironmentStatistics.IsPoisoned)].Should().Be(false);
        health.Data[nameof(EnvironmentStatistics.IsBackPressureActive)].Should().Be(false);
        health.Data[nameof(EnvironmentStatistics.OpenReaders)].Should().Be(0);
        health.Data[nameof(StorageOptions.JournalLimitBytes)].Should().Be(512L << 20);
        health.Data[nameof(EnvironmentStatistics.VolumeFreeBytes)].Should().BeOfType<long>().Which.Should().BePositive();
        health.Data.Should().NotContainKey(nameof(EnvironmentStatistics.OldestReaderAge));

        await host.Services.GetRequiredService<StorageEnvironment>().DisposeAsync();
        health = await HostKit.CheckHealthAsync(host.Services);
        health.Status.Should().Be(HealthStatus.Unhealthy);
        health.Description.Should().Be("The environment of section 'Voron' is closed.");
    }

    [Fact]
    public async Task A_poisoned_environment_is_unhealthy()
    {
        var disk = new SimulatedDisk();
        using var provider = Provider(disk, new StorageOptions(Quiet) { InitialJournalFileBytes = 1 << 20 });
        var environment = provider.GetRequiredService<StorageEnvironment>();
        HostKit.Put(environment, "one");
        (await HostKit.CheckHealthAsync(provider)).Status.Should().Be(HealthStatus.Healthy);
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal-", StringComparison.Ordinal), DiskError.NoSpace);
        environment.Invoking(poisoned => HostKit.Put(poisoned, "two")).Should().Throw<EnvironmentPoisonedException>();
        var health = await HostKit.CheckHealthAsync(provider);
        health.Status.Should().Be(HealthStatus.Unhealthy);
        health.Description.Should().Contain("'simulated'").And.Contain("accepts no more writes");
        health.Data[nameof(EnvironmentStatistics.IsPoisoned)].Should().Be(true);
    }

    [Fact]
    public async Task Slowed_writers_and_the_reader_that_is_the_cause_degrade_it()
    {
        var options = new StorageOptions(Quiet)
        {
            BackgroundFlush = true,
            ScratchMemoryBytes = 4 << 20,
            ScratchLimitBytes = 4 << 20,
            FlushInterval = TimeSpan.FromMilliseconds(50),
        };
        using var provider = Provider(
            new SimulatedDisk(), options, ("HealthCheck:SlowReaderAge", "00:00:00.010"), ("HealthCheck:SlowReaderBytes", "1048576"),
            ("HealthCheck:BackPressureWindow", "00:00:00"));
        var environment = provider.GetRequiredService<StorageEnvironment>();
        HostKit.Put(environment, "before");
        HealthReportEntry health;
        using (environment.BeginRead())
        {
            var i = 0;
            health = default;
            await TestWait.UntilAsync(async () =>
            {
                var (key, value) = (Encoding.UTF8.GetBytes($"{i++}"), new byte[15_000]);
                environment.Write(writing => writing.CreateTree("tree").Put(key, value));

                // The flusher's thread frees versions that no reader needs, so that the delay may end for a moment.
                health = await HostKit.CheckHealthAsync(provider);
                return health.Data[nameof(EnvironmentStatistics.IsBackPressureActive)].Equals(true) && health.Description!.Contains("A reader");
            });
        }

        health.Status.Should().Be(HealthStatus.Degraded);
        health.Description.Should().Contain("Writers are slowed").And.Contain("A reader that has been open for");
        health.Data[nameof(EnvironmentStatistics.IsBackPressureActive)].Should().Be(true);
        health.Data[nameof(EnvironmentStatistics.OpenReaders)].Should().Be(1);
        health.Data[nameof(EnvironmentStatistics.OldestReaderAge)].Should().BeOfType<TimeSpan>();
        health.Data[nameof(EnvironmentStatistics.VersionBytes)].Should().BeOfType<long>().Which.Should().BeGreaterThan(4 << 20);
        TestWait.Until(() => !environment.GetStatistics().IsBackPressureActive);
        (await HostKit.CheckHealthAsync(provider)).Status.Should().Be(HealthStatus.Healthy);
    }

    [Fact]
    public async Task A_nearly_full_disk_degrades_it()
    {
        var disk = new SimulatedDisk { SpaceLimit = 512L << 20 };
        using var provider = Provider(disk, Quiet);
        provider.GetRequiredService<StorageEnvironment>();
        var health = await HostKit.CheckHealthAsync(provider);
        health.Status.Should().Be(HealthStatus.Degraded);
        health.Description.Should().MatchRegex(@"The volume has \d+ bytes left, fewer than 1073741824\.");
        disk.SpaceLimit = 2L << 30;
        (await HostKit.CheckHealthAsync(provider)).Status.Should().Be(HealthStatus.Healthy);
    }

    [Fact]
    public async Task Applications_choose_tags_and_can_do_without_the_check()
    {
        var services = HostKit.Services(
            ("Voron:InMemory", "true"), ("Voron:DisableHealthChecks", "true"),
            ("Voron:orders:InMemory", "true"), ("Voron:orders:HealthCheck:Tags:0", "ready"));
        services.AddLogging().AddVoron().AddKeyedVoron("orders");
        using var provider = services.BuildServiceProvider();
        provider.GetRequiredKeyedService<StorageEnvironment>("orders");
        var report = await provider.GetRequiredService<HealthCheckService>().CheckHealthAsync(TestContext.Current.CancellationToken);
        report.Entries.Keys.Should().Equal("voron_orders");
        report.Entries["voron_orders"].Tags.Should().Equal("voron", "ready");
        report.Status.Should().Be(HealthStatus.Healthy);
    }

    [Fact]
    public async Task An_application_chooses_how_bad_a_failure_is()
    {
        var services = HostKit.Services(("Voron:InMemory", "true"));
        services.AddLogging().AddVoron();
        services.Configure<HealthCheckServiceOptions>(health => health.Registrations.Single().FailureStatus = HealthStatus.Degraded);
        using var provider = services.BuildServiceProvider();
        (await HostKit.CheckHealthAsync(provider)).Status.Should().Be(HealthStatus.Degraded, "it is not open");
    }

    [Fact]
    public async Task A_check_during_the_close_does_not_throw()
    {
        for (var round = 0; round < 50; round++)
        {
            var hosted = new HostedEnvironment(new FakeSource(() => StorageEnvironment.OpenInMemory()));
            var check = new EnvironmentHealthCheck(hosted, [], () => new VoronHealthCheckSettings(), TimeProvider.System);
            var environment = hosted.Open();
            using var begin = new Barrier(3);
            var seen = new List<HealthStatus>();
            var checking = new TestThread(() =>
            {
                begin.SignalAndWait();
                do
                    seen.Add(CheckAsync(check).GetAwaiter().GetResult().Status);
                while (seen[^1] != HealthStatus.Unhealthy);
            });
            var disposing = new TestThread(() =>
            {
                begin.SignalAndWait();
                environment.Dispose();
            });
            begin.SignalAndWait(TestContext.Current.CancellationToken);
            await hosted.DisposeAsync();
            disposing.Join().Should().BeNull();
            checking.Join().Should().BeNull();
            seen.Should().NotContain(HealthStatus.Degraded);
            (await CheckAsync(check)).Description.Should().Contain("is closed");
        }
    }

    [Fact]
    public async Task A_check_waits_for_no_writer_and_no_opening()
    {
        using var mayOpen = new ManualResetEventSlim();
        await using var hosted = new HostedEnvironment(new FakeSource(_ => Task.Run(() =>
        {
            mayOpen.Wait(TestWait.Limit);
            return StorageEnvironment.OpenInMemory();
        })));
        var check = new EnvironmentHealthCheck(hosted, [], () => new VoronHealthCheckSettings(), TimeProvider.System);
        var opening = hosted.OpenAsync(CancellationToken.None);
        (await CheckAsync(check)).Description.Should().Contain("is being opened");
        mayOpen.Set();
        using var writing = (await opening).BeginWrite();
        (await CheckAsync(check)).Status.Should().Be(HealthStatus.Healthy);
    }

    [Fact]
    public async Task Thresholds_that_cannot_be_read_are_reported_and_not_thrown()
    {
        await using var hosted = new HostedEnvironment(new FakeSource(() => StorageEnvironment.OpenInMemory()));
        hosted.Open();
        var failure = new OptionsValidationException("", typeof(VoronSettings), ["wrong"]);
        var result = await CheckAsync(new EnvironmentHealthCheck(hosted, [], () => throw failure, TimeProvider.System));
        (result.Status, result.Exception).Should().Be((HealthStatus.Unhealthy, failure));
    }

    private static Task<HealthCheckResult> CheckAsync(EnvironmentHealthCheck check) => check.CheckHealthAsync(new HealthCheckContext
    {
        Registration = new HealthCheckRegistration("voron", check, failureStatus: null, tags: null),
    });

    /// <summary>The services of an application whose environment is on a simulated disk.</summary>
    private static ServiceProvider Provider(SimulatedDisk disk, StorageOptions options, params (string Key, string Value)[] settings)
    {
        var services = HostKit.Services([("Voron:Directory", "simulated"), .. settings.Select(one => ($"Voron:{one.Key}", one.Value))]);
        services.AddLogging().AddVoron();
        services.AddKeyedSingleton<IEnvironmentSource>("", (_, _) => new FakeSource(() => StorageEnvironment.Open(disk, options)));
        return services.BuildServiceProvider();
    }
}
