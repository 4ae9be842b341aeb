using System.Globalization;
using System.Reflection;
using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Voron.BoundOptions;
using Voron.Simulation.Disks;

namespace Voron.Tests.Contracts;

/// <summary>
/// Options that come from configuration. The binder by reflection sets properties that only an initializer may set; the one whose code is
/// generated leaves them at their defaults without a word.
/// </summary>
public sealed class BoundOptionsTests
{
    /// <summary>The ways from a configuration to options.</summary>
    private static readonly (string Name, Func<IConfiguration, StorageOptions> Bind)[] Ways =
    [
        ("reflection", configuration => configuration.Get<StorageOptions>()!),
        ("reflection, options pattern", Configure),
        ("generated", GeneratedBinding.Get),
        ("generated, options pattern", GeneratedBinding.Configure),
    ];

    public static TheoryData<string> Names => [.. Ways.Select(way => way.Name)];

    private static PropertyInfo[] Public => typeof(StorageOptions).GetProperties(BindingFlags.Public | BindingFlags.Instance);

    [Theory]
    [MemberData(nameof(Names))]
    public void Every_option_of_a_simple_type_is_bound(string way)
    {
        var defaults = new StorageOptions();
        var wanted = Public.Where(option => IsSimple(option.PropertyType)).ToDictionary(option => option.Name, option => Another(option, defaults));
        wanted.Should().HaveCountGreaterThan(25);
        var configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(wanted.Select(option =>
                KeyValuePair.Create(option.Key, Convert.ToString(option.Value, CultureInfo.InvariantCulture))))
            .AddInMemoryCollection([KeyValuePair.Create("Trees:0", (string?)"users"), KeyValuePair.Create("Trees:1", (string?)"orders")])
            .Build();

        var bound = Ways.Single(one => one.Name == way).Bind(configuration);
        foreach (var option in Public.Where(option => wanted.ContainsKey(option.Name)))
        {
            option.GetValue(bound).Should().Be(wanted[option.Name], "of {0}", option.Name);
            option.GetValue(bound).Should().NotBe(option.GetValue(defaults), "{0} was to be changed", option.Name);
        }

        bound.Trees.Should().Equal("users", "orders");
    }

    /// <summary>
    /// A binder may assign to each option that it does not find the value that the option has. If that set the option, the page size would
    /// contradict that of most environments, and the shares of memory would not follow the limit any more.
    /// </summary>
    [Theory]
    [MemberData(nameof(Names))]
    public void Options_that_are_not_in_the_configuration_stay_unset(string way)
    {
        var configuration = new ConfigurationBuilder()
            .AddInMemoryCollection([KeyValuePair.Create("MemoryLimitBytes", (string?)"67108864"),
                KeyValuePair.Create("BackgroundFlush", (string?)"false")])
            .Build();
        var bound = Ways.Single(one => one.Name == way).Bind(configuration);
        bound.PageSize.Should().BeNull();
        bound.KeyHeadCacheBytes.Should().Be(8 << 20);
        bound.MemoryLimitBytes = 32 << 20;
        bound.ScratchMemoryBytes.Should().Be(10 << 20);
        bound.ScratchLimitBytes.Should().Be(128 << 20);
        bound.KeyHeadCacheBytes.Should().Be(4 << 20);
        bound.MaxTransactionBytes.Should().Be(128 << 20);
        bound.MaxGroupCommitBytes.Should().Be(2 << 20);

        var disk = new SimulatedDisk();
        StorageEnvironment.Open(disk, new StorageOptions { PageSize = 8192, BackgroundFlush = false }).Dispose();
        using var environment = StorageEnvironment.Open(disk, bound);
        environment.Options.PageSize.Should().Be(8192);
        environment.Options.KeyHeadCacheBytes.Should().Be(4 << 20);
    }

    [Fact]
    public void The_other_options_are_set_in_code()
    {
        var others = Public.Where(option => !IsSimple(option.PropertyType) && option.Name != nameof(StorageOptions.Trees)).ToList();
        others.Should().OnlyContain(option =>
            option.PropertyType.IsInterface || option.PropertyType.IsSubclassOf(typeof(Delegate)) || option.PropertyType == typeof(TimeProvider));
        others.Should().OnlyContain(option => option.SetMethod != null && option.SetMethod.IsPublic);
    }

    /// <summary>A property that only an initializer may set is not settable for the generated code.</summary>
    [Fact]
    public void Every_option_can_be_set_after_the_options_were_made()
    {
        foreach (var option in Public.Where(option => option.Name != nameof(StorageOptions.Trees)))
        {
            option.SetMethod!.ReturnParameter.GetRequiredCustomModifiers().Should().BeEmpty("{0} has a setter", option.Name);
        }
    }

    [Fact]
    public void Options_come_from_appsettings()
    {
        using var directory = new TestDirectory();
        var store = Path.Combine(directory, "store");
        File.WriteAllText(Path.Combine(directory, "appsettings.json"), JsonSerializer.Serialize(new
        {
            Storage = new
            {
                PageSize = 8192,
                ScrubInterval = "02:00:00",
                OpenMode = "CreateNew",
                MemoryLimitBytes = 64 << 20,
                Trees = new[] { "jobs" }
            },
        }));
        var builder = Host.CreateApplicationBuilder(new HostApplicationBuilderSettings { ContentRootPath = directory, DisableDefaults = false });
        builder.Services.Configure<StorageOptions>(builder.Configuration.GetSection("Storage"));
        builder.Services.Configure<StorageOptions>(options => options.BackgroundFlush = false);
        builder.Services.AddSingleton(
            services => StorageEnvironment.Open(store, services.GetRequiredService<IOptions<StorageOptions>>().Value));
        using var host = builder.Build();

        var opened = host.Services.GetRequiredService<StorageEnvironment>();
        opened.Options.PageSize.Should().Be(8192);
        opened.Options.ScrubInterval.Should().Be(TimeSpan.FromHours(2));
        opened.Options.MemoryLimitBytes.Should().Be(64 << 20);
        opened.Options.BackgroundFlush.Should().BeFalse();
        using var reading = opened.BeginRead();
        reading.GetTreeNames().Should().Equal("jobs");
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void A_value_that_is_not_one_is_refused(string way)
    {
        var configuration = new ConfigurationBuilder().AddInMemoryCollection([KeyValuePair.Create("PageSize", (string?)"large")]).Build();
        FluentActions.Invoking(() => Ways.Single(one => one.Name == way).Bind(configuration))
            .Should().Throw<InvalidOperationException>().WithMessage("*PageSize*");
    }

    [Fact]
    public void Binding_to_options_of_an_open_environment_changes_nothing()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        var configuration = new ConfigurationBuilder().AddInMemoryCollection([KeyValuePair.Create("MaxGrowthBytes", (string?)"1048576")]).Build();
        var before = environment.Options.MaxGrowthBytes;
        FluentActions.Invoking(() => GeneratedBinding.Bind(configuration, environment.Options)).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => configuration.Bind(environment.Options)).Should().Throw<Exception>()
            .Which.GetBaseException().Should().BeOfType<InvalidOperationException>().Which.Message.Should().Contain("cannot be changed");
        environment.Options.MaxGrowthBytes.Should().Be(before);
    }

    /// <summary>Returns a value other than the default.</summary>
    internal static object Another(PropertyInfo option, StorageOptions defaults)
    {
        var type = Nullable.GetUnderlyingType(option.PropertyType) ?? option.PropertyType;
        var value = option.GetValue(defaults);
        return value switch
        {
            bool isSet => !isSet,
            int number => number + 1,
            long number => number + 1,
            null when type == typeof(long) => 123L << 20,
            null when type == typeof(int) => 8192,
            null when type == typeof(string) => "other",
            double number => number / 2,
            TimeSpan time => time + TimeSpan.FromMinutes(3),
            UnixFileMode mode => mode | UnixFileMode.GroupRead,
            Enum => Enum.GetValues(type).Cast<object>().First(one => !one.Equals(value)),
            _ => throw new NotSupportedException($"There is no other value for {option.Name} of type {type}."),
        };
    }

    /// <summary>Returns true for a type that a configuration can hold as one value.</summary>
    internal static bool IsSimple(Type type)
    {
        type = Nullable.GetUnderlyingType(type) ?? type;
        return type.IsPrimitive || type.IsEnum || type == typeof(TimeSpan) || type == typeof(string);
    }

    private static StorageOptions Configure(IConfiguration configuration)
    {
        var services = new ServiceCollection();
        services.Configure<StorageOptions>(configuration);
        using var provider = services.BuildServiceProvider();
        return provider.GetRequiredService<IOptions<StorageOptions>>().Value;
    }
}
