using System.Diagnostics.Metrics;
using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Time.Testing;
using Voron.Extensions.Hosting;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>
/// Options and settings come from the section of the environment. The package binds them with generated code; the tests have no generator, so that
/// their own calls of the binder use reflection.
/// </summary>
public sealed class BoundSettingsTests
{
    [Theory]
    [InlineData("", "Voron", false)]
    [InlineData("", "Elsewhere", true)]
    [InlineData("orders", "Voron:orders", false)]
    [InlineData("orders", "Elsewhere:orders", true)]
    public void Every_simple_option_and_setting_is_bound(string name, string section, bool byReflection)
    {
        var options = Simple(typeof(StorageOptions)).ToDictionary(option => option.Name, option => Another(option, new StorageOptions()));
        options.Should().HaveCountGreaterThan(25);
        var settings = Simple(typeof(VoronSettings)).ToDictionary(setting => setting.Name, setting => Another(setting, new VoronSettings()));
        var thresholds = Simple(typeof(VoronHealthCheckSettings))
            .ToDictionary(setting => setting.Name, setting => Another(setting, new VoronHealthCheckSettings()));
        (settings.Count, thresholds.Count).Should().Be((3, 4), "the test knows them all");
        var services = HostKit.Services(
        [
            .. options.Concat(settings).Select(entry => ($"{section}:{entry.Key}", Text(entry.Value))),
            .. thresholds.Select(entry => ($"{section}:HealthCheck:{entry.Key}", Text(entry.Value))),
            ($"{section}:Trees:0", "users"),
            ($"{section}:HealthCheck:Tags:0", "ready"),
        ]);
        Add(services, name);
        if (byReflection)
        {
            using var configured = services.BuildServiceProvider();
            var part = configured.GetRequiredService<IConfiguration>().GetSection(section);
            services.Configure<StorageOptions>(name, part);
            services.Configure<VoronSettings>(name, part);
        }

        // Values that are other than the defaults need not go together.
        foreach (var validation in services.Where(service => service.ImplementationInstance is SettingsValidation).ToList())
            services.Remove(validation);
        using var provider = services.BuildServiceProvider();
        var bound = provider.GetRequiredService<IOptionsMonitor<StorageOptions>>().Get(name);
        foreach (var (option, value) in options)
            typeof(StorageOptions).GetProperty(option)!.GetValue(bound).Should().Be(value, "of {0}", option);
        bound.Trees.Should().Equal("users");
        var read = provider.GetRequiredService<IOptionsMonitor<VoronSettings>>().Get(name);
        foreach (var (setting, value) in settings)
            typeof(VoronSettings).GetProperty(setting)!.GetValue(read).Should().Be(value, "of {0}", setting);
        foreach (var (threshold, value) in thresholds)
            typeof(VoronHealthCheckSettings).GetProperty(threshold)!.GetValue(read.HealthCheck).Should().Be(value, "of {0}", threshold);
        read.HealthCheck.Tags.Should().Equal("ready");
    }

    [Fact]
    public void The_package_binds_with_generated_code() =>
        typeof(VoronSettings).Assembly.GetTypes().Should().Contain(type => type.Name.Contains("BindingExtensions"));

    [Fact]
    public void Options_that_the_section_lacks_keep_their_defaults()
    {
        var services = HostKit.Services(("Voron:InMemory", "true"), ("Voron:MemoryLimitBytes", "67108864"), ("Voron:orders:InMemory", "true"));
        services.AddVoron().AddKeyedVoron("orders");
        using var provider = services.BuildServiceProvider();
        var monitor = provider.GetRequiredService<IOptionsMonitor<StorageOptions>>();
        monitor.CurrentValue.PageSize.Should().BeNull();
        monitor.CurrentValue.KeyHeadCacheBytes.Should().Be(8 << 20, "a share of the limit");
        monitor.Get("orders").MemoryLimitBytes.Should().BeNull("a named section inherits nothing");
        var thresholds = provider.GetRequiredService<IOptionsMonitor<VoronSettings>>().Get("orders").HealthCheck;
        (thresholds.MinVolumeFreeBytes, thresholds.SlowReaderAge).Should().Be((1L << 30, TimeSpan.FromMinutes(1)));
    }

    [Fact]
    public void Code_wins_over_the_configuration_and_sees_it()
    {
        var services = HostKit.Services(("Voron:InMemory", "true"), ("Voron:PageSize", "8192"), ("Voron:LargeValueBytes", "32768"));
        services.AddVoron(null, options => options.PageSize *= 2);
        using var provider = services.BuildServiceProvider();
        var opened = provider.GetRequiredService<StorageEnvironment>().Options;
        (opened.PageSize, opened.LargeValueBytes).Should().Be((16384, 32768));
    }

    /// <summary>The clock was left out, so rows expired by that of the system.</summary>
    [Fact]
    public void An_environment_in_memory_has_all_options_that_it_can_have()
    {
        var options = new StorageOptions
        {
            PageSize = 8192,
            MaxTransactionBytes = 2 << 20,
            MaxGroupCommitBytes = 1 << 20,
            MaxQueuedOperations = 7,
            KeyHeadCacheBytes = 1 << 20,
            LargeValueBytes = 32 << 10,
            FlowExecutionContext = false,
            CaptureTransactionStacks = true,
            Name = "name",
            LoggerFactory = NullLoggerFactory.Instance,
            MeterFactory = new ServiceCollection().AddMetrics().BuildServiceProvider().GetRequiredService<IMeterFactory>(),
            TimeProvider = new FakeTimeProvider(),
            CommitObserver = _ => { },
        };
        options.Trees.Add("tree");
        var (taken, initial) = (ConfiguredEnvironment.ToInMemoryOptions(options), new InMemoryOptions());
        taken.Trees.Should().Equal("tree");
        foreach (var property in typeof(InMemoryOptions).GetProperties().Where(property => property.CanWrite && property.Name != "MaxDataBytes"))
        {
            property.GetValue(taken).Should().Be(typeof(StorageOptions).GetProperty(property.Name)!.GetValue(options), "{0} is taken", property.Name)
                .And.NotBe(property.GetValue(initial), "the test sets {0}", property.Name);
        }
    }

    [Fact]
    public async Task A_host_does_not_start_with_options_that_are_not_valid()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(
            directory, ("Voron:Directory", "data"), ("Voron:PageSize", "5000"), ("Voron:orders:HealthCheck:SlowReaderBytes", "-1"));
        builder.Services.AddVoron().AddKeyedVoron("orders");
        using var host = builder.Build();
        var start = () => host.StartAsync(TestContext.Current.CancellationToken);
        var failures = (await start.Should().ThrowAsync<AggregateException>()).Which.InnerExceptions;
        failures.Should().AllBeOfType<OptionsValidationException>();
        string.Join('\n', failures.Select(failure => failure.Message)).Should()
            .Contain("Section 'Voron' ").And.Contain("PageSize is 5000")
            .And.Contain("Section 'Voron:orders'").And.Contain("Directory is not set").And.Contain("HealthCheck:SlowReaderBytes is -1");
        Directory.EnumerateFileSystemEntries(directory.Path).Should().BeEmpty("nothing was opened");
    }

    /// <summary>A misspelt limit of memory was no limit, and no message said so.</summary>
    [Theory]
    [InlineData("Voron:MemoryLimit", "'Voron:MemoryLimit'*'MemoryLimit'*Did you mean 'MemoryLimitBytes'?")]
    [InlineData("Voron:Directoryy", "*Did you mean 'Directory'?")]
    [InlineData("Voron:HealthCheck:Age", "'Voron:HealthCheck:Age'*no setting 'Age'*Correct the name, or remove it.")]
    [InlineData("Voron:LoggerFactories", "*")]
    public async Task A_name_that_is_no_setting_is_refused(string key, string message)
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(
            directory, ("Voron:directory", "data"), ("Voron:orders:InMemory", "true"), ("Voron:Trees:0", "users"), (key, "1"));
        builder.Services.AddVoron().AddKeyedVoron("orders");
        using var host = builder.Build();
        var start = () => host.StartAsync(TestContext.Current.CancellationToken);
        (await start.Should().ThrowAsync<OptionsValidationException>()).WithMessage($"*{message}*");
        Directory.EnumerateFileSystemEntries(directory.Path).Should().BeEmpty("nothing was opened");
    }

    [Fact]
    public async Task A_value_of_another_type_is_reported_with_its_key()
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:orders:Directory", "data"), ("Voron:orders:PageSize", "large"));
        builder.Services.AddKeyedVoron("orders");
        using var host = builder.Build();
        var start = () => host.StartAsync(TestContext.Current.CancellationToken);
        (await start.Should().ThrowAsync<InvalidOperationException>()).WithMessage("*Voron:orders:PageSize*");
    }

    [Fact]
    public void Messages_and_metrics_go_to_those_of_the_application_unless_the_options_have_others()
    {
        using var directory = new TestDirectory();
        var categories = new CategoryProvider();
        foreach (var own in new[] { false, true })
        {
            var builder = HostKit.Builder(directory, ("Voron:Directory", "data"), ("Voron:orders:InMemory", "true"));
            builder.Logging.AddProvider(categories);
            using var chosen = new LoggerFactory();
            builder.Services.AddVoron(null, options => options.LoggerFactory = own ? chosen : null);
            using (var host = builder.Build())
            {
                var environment = host.Services.GetRequiredService<StorageEnvironment>();
                categories.Names.Contains("Voron").Should().Be(!own);
                environment.Options.LoggerFactory.Should().BeSameAs(own ? chosen : host.Services.GetRequiredService<ILoggerFactory>());
                environment.Options.MeterFactory.Should().BeSameAs(host.Services.GetRequiredService<IMeterFactory>());
            }

            categories.Names.Clear();
        }
    }

    [Fact]
    public void The_key_of_an_environment_is_its_name_unless_the_options_have_another()
    {
        // No other test has these names: of two open environments with one name, the second gets a number.
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(
            directory, ("Voron:parcels:InMemory", "true"), ("Voron:letters:InMemory", "true"), ("Voron:letters:Name", "hot letters"));
        builder.Services.AddKeyedVoron("parcels").AddKeyedVoron("letters");
        using var host = builder.Build();
        host.Services.GetRequiredKeyedService<StorageEnvironment>("parcels").Name.Should().Be("parcels");
        host.Services.GetRequiredKeyedService<StorageEnvironment>("letters").Name.Should().Be("hot letters");
    }

    private static void Add(IServiceCollection services, string name)
    {
        if (name.Length == 0)
            services.AddVoron();
        else
            services.AddKeyedVoron(name);
    }

    private static IEnumerable<PropertyInfo> Simple(Type type) =>
        type.GetProperties(BindingFlags.Public | BindingFlags.Instance).Where(option => IsSimple(option.PropertyType));

    private static bool IsSimple(Type type)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        return type.IsPrimitive || type.IsEnum || type == typeof(TimeSpan) || type == typeof(string);
    }

    private static string Text(object value) => Convert.ToString(value, CultureInfo.InvariantCulture)!;

    private static object Another(PropertyInfo option, object defaults)
    {
        var type = Nullable.GetUnderlyingType(option.PropertyType) ?? option.PropertyType;
        return option.GetValue(defaults) switch
        {
            bool isSet => !isSet,
            int number => number + 1,
            long number => number + 1,
            null when type == typeof(long) => 123L << 20,
            null when type == typeof(int) => 8192,
            null when type == typeof(string) => "somewhere",
            double number => number / 2,
            TimeSpan time => time + TimeSpan.FromMinutes(3),
            UnixFileMode mode => mode | UnixFileMode.GroupRead,
            Enum value => Enum.GetValues(type).Cast<object>().First(one => !one.Equals(value)),
            _ => throw new NotSupportedException($"There is no other value for {option.Name} of type {type}."),
        };
    }

    /// <summary>Notes the categories for which loggers are made.</summary>
    private sealed class CategoryProvider : ILoggerProvider
    {
        public HashSet<string> Names { get; } = [];

        public ILogger CreateLogger(string categoryName)
        {
            lock (Names)
                Names.Add(categoryName);
            return Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance;
        }

        public void Dispose()
        {
        }
    }
}
