using System.Diagnostics.Metrics;
using System.Reflection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.Simulation.Disks;
using Voron.Tests.Diagnostics;

namespace Voron.Tests.Contracts;

/// <summary>An environment has options of its own, which do not change; the caller's stay the caller's.</summary>
[Quick]
public sealed class FrozenOptionsTests
{
    private static readonly BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance;

    private static IEnumerable<PropertyInfo> Settable =>
        typeof(StorageOptions).GetProperties(All).Where(option => option.SetMethod != null);

    [Fact]
    public void Options_of_an_open_environment_cannot_be_changed()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, Trees = { "a" } });
        var options = environment.Options;
        foreach (var option in Settable)
        {
            var before = option.GetValue(options);
            FluentActions.Invoking(() => option.SetValue(options, before)).Should().Throw<TargetInvocationException>("of {0}", option.Name)
                .WithInnerException<InvalidOperationException>().WithMessage($"{option.Name} cannot be changed*open environment*");
            option.GetValue(options).Should().Be(before);
        }

        Action[] changes =
        [
            () => options.Trees.Add("b"), () => options.Trees.Clear(), () => options.Trees.RemoveAt(0), () => options.Trees[0] = "b",
            () => options.Trees.Insert(0, "b"),
        ];
        foreach (var change in changes)
            change.Should().Throw<InvalidOperationException>().WithMessage("Trees cannot be changed*");
        options.Trees.Should().Equal("a");
    }

    [Fact]
    public void A_copy_has_every_option_and_can_be_changed()
    {
        var options = new StorageOptions { Trees = { "a", "b" } };
        foreach (var option in Settable)
            option.SetValue(options, Another(option, options));
        var copy = new StorageOptions(options);
        ShouldBeAlike(copy, options);

        copy.Trees.Add("c");
        copy.MaxQueuedOperations = 5;
        options.Trees.Should().Equal("a", "b");
        options.MaxQueuedOperations.Should().NotBe(5);
        FluentActions.Invoking(() => new StorageOptions(null!)).Should().Throw<ArgumentNullException>().WithParameterName("options");
        FluentActions.Invoking(() => copy.Trees.Add(null!)).Should().Throw<ArgumentNullException>();
        FluentActions.Invoking(() => copy.Trees[0] = null!).Should().Throw<ArgumentNullException>();
    }

    /// <summary>Derived options are not set in the copy: they follow a limit that is changed there.</summary>
    [Fact]
    public void A_copy_of_the_options_of_an_environment_is_like_them_and_opens_another()
    {
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, PageSize = 16384, ScratchMemoryBytes = 1L << 40, Trees = { "a" } });
        environment.Options.MemoryLimitBytes.Should().NotBeNull();
        var copy = new StorageOptions(environment.Options);
        ShouldBeAlike(copy, environment.Options);
        using (var other = StorageEnvironment.OpenInMemory(environment.Options))
            ShouldBeAlike(other.Options, environment.Options);

        copy.ScratchMemoryBytes = 4 << 20;
        copy.MemoryLimitBytes = 32 << 20;
        copy.KeyHeadCacheBytes.Should().Be(4 << 20);
        copy.MaxTransactionBytes.Should().Be(128 << 20);
        copy.Validate();
    }

    [Fact]
    public void A_change_of_the_callers_options_does_not_reach_the_environment()
    {
        var options = new StorageOptions { BackgroundFlush = false, MaxQueuedOperations = 7, Trees = { "a" } };
        using var environment = StorageEnvironment.OpenInMemory(options);
        options.MaxQueuedOperations = 8;
        options.Trees.Add("b");
        options.PageSize = 5;
        environment.Options.MaxQueuedOperations.Should().Be(7);
        environment.Options.Trees.Should().Equal("a");
        environment.Options.PageSize.Should().Be(4096);
        options.PageSize = 32768;
        using var other = StorageEnvironment.OpenInMemory(options);
        (other.Options.PageSize, other.Options.MaxQueuedOperations).Should().Be((32768, 8));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_page_size_is_the_actual_one_after_recovery_too(bool readOnly)
    {
        var disk = new SimulatedDisk();
        var first = StorageEnvironment.Open(disk, new StorageOptions { PageSize = 32768, BackgroundFlush = false });
        using (var writing = first.BeginWrite())
        {
            writing.CreateTree("t").Put([1], [2]);
            writing.Commit();
        }

        // Leaves the files as a kill does.
        first.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        first.Dispose();
        disk.IsReadOnly = readOnly;
        var wrong = () => StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, ReadOnly = readOnly, PageSize = 4096 });
        wrong.Should().Throw<ArgumentException>().WithParameterName("options").WithMessage("*32768*PageSize*4096*");
        using (var again = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, ReadOnly = readOnly }))
        {
            again.Recovery.ReplayedRecords.Should().Be(1, "the refused opening has changed nothing");
            again.Options.PageSize.Should().Be(32768);
            again.GetStatistics().PageSize.Should().Be(32768);
        }

        using var right = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false, ReadOnly = readOnly, PageSize = 32768 });
        right.Options.PageSize.Should().Be(32768);
    }

    private static void ShouldBeAlike(StorageOptions one, StorageOptions other)
    {
        foreach (var option in typeof(StorageOptions).GetProperties(All).Where(option => option.Name != nameof(StorageOptions.Trees)))
            option.GetValue(one).Should().Be(option.GetValue(other), "of {0}", option.Name);
        one.Trees.Should().Equal(other.Trees);
    }

    private static object? Another(PropertyInfo option, StorageOptions options)
    {
        if (BoundOptionsTests.IsSimple(option.PropertyType))
            return BoundOptionsTests.Another(option, options);
        if (option.PropertyType == typeof(TimeProvider))
            return new OtherClock();
        if (option.PropertyType == typeof(ScrubClock))
            return new ScrubClock();
        if (option.PropertyType == typeof(ILoggerFactory))
            return NullLoggerFactory.Instance;
        if (option.PropertyType == typeof(IMeterFactory))
            return new TestMeterFactory();
        var parameter = option.PropertyType.GetGenericArguments().Single();
        return typeof(FrozenOptionsTests).GetMethod(nameof(Ignore), All | BindingFlags.Static)!.MakeGenericMethod(parameter)
            .CreateDelegate(option.PropertyType);
    }

    private static void Ignore<T>(T report)
    {
    }

    private sealed class OtherClock : TimeProvider;
}
