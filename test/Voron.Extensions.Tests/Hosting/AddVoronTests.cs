using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Voron.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>Environments among the services of an application.</summary>
public sealed class AddVoronTests
{
    [Fact]
    public async Task Default_and_keyed_environments_are_singletons_of_their_own()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:Directory", "main"), ("Voron:orders:Directory", "orders"), ("Voron:logs:InMemory", "true"));
        builder.Services.AddVoron().AddKeyedVoron("orders").AddKeyedVoron("logs");
        using var host = builder.Build();
        await host.StartAsync(TestContext.Current.CancellationToken);

        var main = host.Services.GetRequiredService<StorageEnvironment>();
        var orders = host.Services.GetRequiredKeyedService<StorageEnvironment>("orders");
        var logs = host.Services.GetRequiredKeyedService<StorageEnvironment>("logs");
        main.Path.Should().Be(Path.Combine(directory.Path, "main"));
        orders.Path.Should().Be(Path.Combine(directory.Path, "orders"));
        logs.Path.Should().Be("memory");
        using var scope = host.Services.CreateScope();
        scope.ServiceProvider.GetRequiredService<StorageEnvironment>().Should().BeSameAs(main);
        scope.ServiceProvider.GetRequiredKeyedService<StorageEnvironment>("orders").Should().BeSameAs(orders);
        host.Services.GetKeyedService<StorageEnvironment>("unknown").Should().BeNull();
        HostKit.Put(orders, "key");
        HostKit.Has(main, "key").Should().BeFalse();
        await host.StopAsync(TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task Code_needs_no_configuration_and_no_host()
    {
        using var directory = new TestDirectory();
        var services = new ServiceCollection();
        services.AddVoron(settings => settings.Directory = directory.Path, options => options.Trees.Add("users"));
        await using (var provider = services.BuildServiceProvider())
        {
            var environment = provider.GetRequiredService<StorageEnvironment>();
            environment.Path.Should().Be(directory.Path);
            using var reading = environment.BeginRead();
            reading.GetTreeNames().Should().Equal("users");
        }

        StorageEnvironment.Open(directory.Path).Dispose();
    }

    [Fact]
    public void A_provider_that_is_disposed_on_the_calling_thread_closes_the_environment()
    {
        using var directory = new TestDirectory();
        var services = HostKit.Services(("Voron:Directory", directory.Path));
        services.AddVoron();
        StorageEnvironment environment;
        using (var provider = services.BuildServiceProvider())
            environment = provider.GetRequiredService<StorageEnvironment>();
        environment.Invoking(closed => closed.BeginRead()).Should().Throw<ObjectDisposedException>();
        StorageEnvironment.Open(directory.Path).Dispose();
    }

    [Fact]
    public async Task A_provider_that_opened_nothing_creates_no_directory()
    {
        using var directory = new TestDirectory();
        var path = Path.Combine(directory.Path, "unused");
        var services = HostKit.Services(("Voron:Directory", path));
        services.AddLogging().AddVoron();
        await using (var provider = services.BuildServiceProvider())
        {
            var health = await HostKit.CheckHealthAsync(provider);
            health.Status.Should().Be(HealthStatus.Unhealthy);
            health.Description.Should().Contain("not been opened yet");
        }

        Directory.Exists(path).Should().BeFalse("a health check opens nothing");
    }

    [Fact]
    public void A_second_provider_has_to_wait_for_the_first_one()
    {
        using var directory = new TestDirectory();
        var services = HostKit.Services(("Voron:Directory", directory.Path));
        services.AddVoron();
        using var second = services.BuildServiceProvider();
        using (var first = services.BuildServiceProvider())
        {
            first.GetRequiredService<StorageEnvironment>();
            second.Invoking(busy => busy.GetRequiredService<StorageEnvironment>()).Should().Throw<InvalidOperationException>()
                .WithMessage($"*'Voron'*'{directory.Path}'*").WithInnerException<EnvironmentInUseException>();
        }

        second.GetRequiredService<StorageEnvironment>().GetStatistics().IsPoisoned.Should().BeFalse("a failure is not kept");
    }

    [Fact]
    public async Task Repeated_calls_add_their_delegates_and_nothing_else()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:Directory", "one"), ("Voron:Trees:0", "configured"));
        builder.Services.AddVoron(settings => settings.Directory = "two");
        builder.Services.AddVoron(settings => settings.Directory += "-three", options => options.Trees.Add("first"));
        builder.Services.AddVoron(null, options => options.Trees.Add("second"));
        builder.Services.AddKeyedVoron("keyed", settings => settings.InMemory = true).AddKeyedVoron("keyed");
        using var host = builder.Build();
        host.Services.GetServices<StorageEnvironment>().Should().ContainSingle();
        host.Services.GetKeyedServices<StorageEnvironment>("keyed").Should().ContainSingle();
        host.Services.GetServices<IHostedService>().OfType<EnvironmentOpener>().Should().ContainSingle();
        var environment = host.Services.GetRequiredService<StorageEnvironment>();
        environment.Path.Should().Be(Path.Combine(directory.Path, "two-three"));
        environment.Options.Trees.Should().Equal("configured", "first", "second");
        await host.StartAsync(TestContext.Current.CancellationToken);
        var report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(TestContext.Current.CancellationToken);
        report.Entries.Keys.Should().BeEquivalentTo("voron", "voron_keyed");
    }

    [Fact]
    public async Task An_absolute_directory_is_used_as_it_is()
    {
        using var root = new TestDirectory();
        using var elsewhere = new TestDirectory();
        var builder = HostKit.Builder(root, ("Voron:Directory", elsewhere.Path));
        builder.Services.AddVoron();
        using var host = builder.Build();
        await host.StartAsync(TestContext.Current.CancellationToken);
        host.Services.GetRequiredService<StorageEnvironment>().Path.Should().Be(elsewhere.Path);
        Directory.EnumerateFileSystemEntries(root.Path).Should().BeEmpty();
    }

    [Fact]
    public void In_memory_wins_over_a_directory_and_takes_the_options_that_apply()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(
            directory, ("Voron:Directory", "data"), ("Voron:InMemory", "true"), ("Voron:PageSize", "8192"), ("Voron:Trees:0", "users"),
            ("Voron:LargeValueBytes", "32768"), ("Voron:MaxQueuedOperations", "17"), ("Voron:MaxTransactionBytes", "2097152"),
            ("Voron:MaxGroupCommitBytes", "65536"), ("Voron:KeyHeadCacheBytes", "4096"), ("Voron:CaptureTransactionStacks", "true"));
        var commits = 0;
        builder.Services.AddVoron(null, options => options.CommitObserver = _ => commits++);
        using var host = builder.Build();
        var environment = host.Services.GetRequiredService<StorageEnvironment>();
        environment.Path.Should().Be("memory");
        var options = environment.Options;
        options.PageSize.Should().Be(8192);
        options.Trees.Should().Equal("users");
        options.LargeValueBytes.Should().Be(32768);
        options.MaxQueuedOperations.Should().Be(17);
        options.MaxTransactionBytes.Should().Be(2 << 20);
        options.MaxGroupCommitBytes.Should().Be(64 << 10);
        options.KeyHeadCacheBytes.Should().Be(4096);
        options.CaptureTransactionStacks.Should().BeTrue();
        commits.Should().Be(1, "the declared tree was created");
        Directory.EnumerateFileSystemEntries(directory.Path).Should().BeEmpty();
    }

    public static TheoryData<string, Action<IServiceCollection>, Type, string> WrongCalls => new()
    {
        { "no services", _ => VoronServiceCollectionExtensions.AddVoron(null!), typeof(ArgumentNullException), "services" },
        { "no services, keyed", _ => VoronServiceCollectionExtensions.AddKeyedVoron(null!, "name"), typeof(ArgumentNullException), "services" },
        { "no name", services => services.AddKeyedVoron(null!), typeof(ArgumentNullException), "name" },
        { "empty name", services => services.AddKeyedVoron(""), typeof(ArgumentException), "name" },
        { "blank name", services => services.AddKeyedVoron(" "), typeof(ArgumentException), "name" },
        { "nested section", services => services.AddKeyedVoron("a:b"), typeof(ArgumentException), "name" },
        { "name of a setting", services => services.AddKeyedVoron("HealthCheck"), typeof(ArgumentException), "name" },
        { "name of an option", services => services.AddKeyedVoron("trees"), typeof(ArgumentException), "name" },
        { "same section", services => services.AddKeyedVoron("ORDERS"), typeof(ArgumentException), "name" },
    };

    [Theory]
    [MemberData(nameof(WrongCalls))]
    public void A_wrong_call_names_its_parameter_and_changes_nothing(string what, Action<IServiceCollection> call, Type thrown, string parameter)
    {
        var services = new ServiceCollection();
        services.AddKeyedVoron("orders", settings => settings.InMemory = true);
        var before = services.ToList();
        var exception = services.Invoking(call).Should().Throw<ArgumentException>(what).Which;
        exception.GetType().Should().Be(thrown);
        exception.ParamName.Should().Be(parameter);
        services.Should().Equal(before);
        services.BuildServiceProvider().GetRequiredKeyedService<StorageEnvironment>("orders").Path.Should().Be("memory");
    }

    [Fact]
    public void The_settings_reject_all_that_is_wrong_together()
    {
        var settings = new VoronSettings { Directory = " " };
        settings.HealthCheck.MinVolumeFreeBytes = -1;
        settings.HealthCheck.SlowReaderAge = TimeSpan.FromSeconds(-1);
        settings.HealthCheck.SlowReaderBytes = -2;
        settings.HealthCheck.BackPressureWindow = TimeSpan.FromTicks(-1);
        settings.HealthCheck.Tags.Add("");
        settings.Invoking(wrong => wrong.Validate()).Should().Throw<ArgumentException>()
            .WithMessage("*Directory*MinVolumeFreeBytes*SlowReaderAge*SlowReaderBytes*BackPressureWindow*Tags*");
        new VoronSettings { Directory = "a\0b" }.Invoking(wrong => wrong.Validate()).Should().Throw<ArgumentException>().WithMessage("*null character*");
        var right = new VoronSettings { InMemory = true };
        right.HealthCheck.SlowReaderAge = Timeout.InfiniteTimeSpan;
        right.Validate();
    }
}
