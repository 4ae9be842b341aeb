using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Voron.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>An environment is open before the first service of the host starts, and until the last one has stopped.</summary>
public sealed class HostLifetimeTests
{
    [Fact]
    public async Task It_is_open_before_services_start_and_closed_after_they_have_stopped()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:Directory", "data"));
        builder.Services.AddSingleton<Worker>();

        // Before AddVoron: it starts first and stops last.
        builder.Services.AddHostedService(services => services.GetRequiredService<Worker>());
        builder.Services.AddVoron();
        var host = builder.Build();
        var worker = host.Services.GetRequiredService<Worker>();
        Directory.Exists(worker.Path).Should().BeFalse("nothing needs it yet");
        await host.StartAsync(TestContext.Current.CancellationToken);
        worker.WasThereAtStart.Should().BeTrue("the environment was opened, although no service asked for it");
        var environment = host.Services.GetRequiredService<StorageEnvironment>();
        await host.StopAsync(TestContext.Current.CancellationToken);
        worker.WroteAtStop.Should().BeTrue();
        HostKit.Put(environment, "after the stop");
        host.Dispose();
        environment.Invoking(closed => closed.BeginRead()).Should().Throw<ObjectDisposedException>();
        using var reopened = StorageEnvironment.Open(worker.Path);
        (HostKit.Has(reopened, "at stop"), HostKit.Has(reopened, "after the stop")).Should().Be((true, true));
    }

    [Fact]
    public async Task A_host_does_not_start_without_the_environment_and_says_which_one_it_is()
    {
        using var directory = new TestDirectory();
        var path = Path.Combine(directory.Path, "orders");
        using var holder = StorageEnvironment.Open(path);
        var builder = HostKit.Builder(directory, ("Voron:orders:Directory", "orders"), ("Voron:InMemory", "true"));
        builder.Services.AddVoron().AddKeyedVoron("orders");
        using var host = builder.Build();
        var start = () => host.StartAsync(TestContext.Current.CancellationToken);
        (await start.Should().ThrowAsync<InvalidOperationException>())
            .WithMessage($"The environment of section 'Voron:orders' cannot be opened in '{path}': *").WithInnerException<EnvironmentInUseException>();
        var health = await HostKit.CheckHealthAsync(host.Services, "voron_orders");
        health.Status.Should().Be(HealthStatus.Unhealthy);
        health.Description.Should().Contain(path);
    }

    [Fact]
    public async Task Several_failures_are_all_reported()
    {
        using var directory = new TestDirectory();
        using var both = new CountdownEvent(2);
        var builder = HostKit.Builder(directory);
        foreach (var name in new[] { "one", "two" })
        {
            builder.Services.AddKeyedVoron(name, settings => settings.Directory = name);
            builder.Services.AddKeyedSingleton<IEnvironmentSource>(name, (_, _) => new FakeSource(_ => Task.Run(() => FailWithTheOther(name))));
        }

        using var host = builder.Build();
        var start = () => host.StartAsync(TestContext.Current.CancellationToken);
        (await start.Should().ThrowAsync<AggregateException>()).Which.InnerExceptions.Select(inner => inner.Message)
            .Should().Satisfy(message => message.Contains("Disk one"), message => message.Contains("Disk two"));

        StorageEnvironment FailWithTheOther(string name)
        {
            both.Signal();
            both.Wait(TestWait.Limit);
            throw new IOException($"Disk {name} is on fire.");
        }
    }

    [Fact]
    public async Task A_failure_ends_the_wait_of_the_others()
    {
        using var directory = new TestDirectory();
        using var one = StorageEnvironment.Open(Path.Combine(directory.Path, "one"));
        using var two = StorageEnvironment.Open(Path.Combine(directory.Path, "two"));
        var builder = HostKit.Builder(
            directory, ("Voron:one:Directory", "one"), ("Voron:one:LockTimeout", "10:00:00"), ("Voron:two:Directory", "two"));
        builder.Services.AddKeyedVoron("one").AddKeyedVoron("two");
        using var host = builder.Build();
        var start = () => host.StartAsync(TestContext.Current.CancellationToken).WaitAsync(TestWait.Limit);
        (await start.Should().ThrowAsync<InvalidOperationException>()).WithMessage("*'Voron:two'*");
    }

    [Fact]
    public async Task A_start_waits_for_the_lock_without_blocking_and_can_be_cancelled()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:Directory", "data"), ("Voron:LockTimeout", "10:00:00"));
        builder.Services.AddVoron();
        using (StorageEnvironment.Open(Path.Combine(directory.Path, "data")))
        {
            using var host = builder.Build();
            using var giveUp = new CancellationTokenSource();
            var starting = host.StartAsync(giveUp.Token);
            starting.IsCompleted.Should().BeFalse();
            (await HostKit.CheckHealthAsync(host.Services)).Description.Should().Contain("is being opened");
            await giveUp.CancelAsync();
            await FluentActions.Awaiting(() => starting.WaitAsync(TestWait.Limit)).Should().ThrowAsync<OperationCanceledException>();
        }

        var again = HostKit.Builder(directory, ("Voron:Directory", "data"), ("Voron:LockTimeout", "10:00:00"));
        again.Services.AddVoron();
        using var next = again.Build();
        await next.StartAsync(TestContext.Current.CancellationToken).WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_start_ends_its_wait_when_the_other_process_lets_it_in()
    {
        using var directory = new TestDirectory();
        var holder = StorageEnvironment.Open(Path.Combine(directory.Path, "data"));
        var builder = HostKit.Builder(directory, ("Voron:Directory", "data"), ("Voron:LockTimeout", "00:10:00"));
        builder.Services.AddVoron();
        using var host = builder.Build();
        var starting = host.StartAsync(TestContext.Current.CancellationToken);
        HostKit.Put(holder, "key");
        starting.IsCompleted.Should().BeFalse();
        holder.Dispose();
        await starting.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
        HostKit.Has(host.Services.GetRequiredService<StorageEnvironment>(), "key").Should().BeTrue();
    }

    /// <summary>Finds the environment's directory when it starts, and writes when it stops.</summary>
    private sealed class Worker(IServiceProvider services, IHostEnvironment host) : IHostedService
    {
        public string Path => System.IO.Path.Combine(host.ContentRootPath, "data");

        public bool WasThereAtStart { get; private set; }

        public bool WroteAtStop { get; private set; }

        public Task StartAsync(CancellationToken cancellationToken)
        {
            WasThereAtStart = StorageEnvironment.Exists(Path);
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken)
        {
            HostKit.Put(services.GetRequiredService<StorageEnvironment>(), "at stop");
            WroteAtStop = true;
            return Task.CompletedTask;
        }
    }
}
