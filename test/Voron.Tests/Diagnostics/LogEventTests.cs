using System.Collections.Concurrent;
using System.Globalization;
using System.Reflection;
using Microsoft.Extensions.Logging;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Diagnostics;

/// <summary>Log events have fixed ids, names and categories, which are documented.</summary>
[Quick]
public sealed class LogEventTests
{
    private const string Document = "docs/log-events.md";

    private const BindingFlags All =
        BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private static IReadOnlyList<(MethodInfo Method, LoggerMessageAttribute Event)> Events { get; } = typeof(StorageEnvironment).Assembly.GetTypes()
        .SelectMany(type => type.GetMethods(All))
        .Select(method => (method, method.GetCustomAttribute<LoggerMessageAttribute>()!))
        .Where(found => found.Item2 != null)
        .ToList();

    [Fact]
    public void The_table_of_events_is_that_of_the_code()
    {
        var documented = DocumentedTable.Read(Document, "id", "name", "level", "category", "meaning", "what to do");
        documented.Select(row => string.Join(' ', row[..4])).Should().Equal(
            Events.OrderBy(found => found.Event.EventId).Select(found => string.Create(
                CultureInfo.InvariantCulture,
                $"{found.Event.EventId} {found.Event.EventName} {found.Event.Level} {LogCategories.Names[LogCategories.IndexOf(found.Event.EventId)]}")));
        documented.Should().OnlyContain(row => row.Length == 6 && row[4].Length > 10 && row[5].Length > 0);
    }

    [Fact]
    public void Ids_and_names_are_unique()
    {
        Events.Should().HaveCountGreaterThan(30);
        Events.Select(found => found.Event.EventId).Should().OnlyHaveUniqueItems();
        Events.Select(found => found.Event.EventName).Should().OnlyHaveUniqueItems().And.NotContainNulls();
    }

    [Fact]
    public void The_events_of_a_class_have_one_category()
    {
        var classes = Events.GroupBy(found => found.Method.DeclaringType!.Name)
            .Select(group => (group.Key, Categories: group.Select(found => LogCategories.IndexOf(found.Event.EventId)).Distinct().Count()));
        classes.Should().OnlyContain(found => found.Categories == 1);
        Events.Select(found => LogCategories.IndexOf(found.Event.EventId)).Distinct().Should().HaveCount(LogCategories.Names.Length);
        LogCategories.IndexOf(99).Should().Be(0);
        LogCategories.IndexOf(100 + (100 * LogCategories.Names.Length)).Should().Be(0);
    }

    [Fact]
    public void An_opening_a_flush_a_recovery_and_a_close_are_logged_in_their_categories()
    {
        var disk = new SimulatedDisk();
        var log = new CategoryLog();
        using (var environment = StorageEnvironment.Open(disk, Options(log)))
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Flush();
            FaultTestKit.Put(environment, 2, [2]);

            // Three transactions of which a flush has taken one.
            FaultTestKit.Put(environment, 3, [3]);
            var crashed = new CategoryLog();
            using (StorageEnvironment.Open(FaultTestKit.DiskOf(FaultTestKit.Bytes(disk)), Options(crashed)))
            {
            }

            crashed.Entries.Should().Contain(entry => entry.Category == "Voron.Recovery" && entry.Id.Id == 200 && entry.Id.Name == "JournalReplayed");
            crashed.Entries.Single(entry => entry.Id.Id == 100).Text.Should().Contain("at transaction 3").And.Contain("Recovered 2 transactions");
        }

        var main = log.Entries.Where(entry => entry.Id.Id is 100 or 101 or 400);
        main.Select(entry => (entry.Category, entry.Id.Id, entry.Id.Name, entry.Level)).Should().Equal(
            ("Voron", 100, "Opened", LogLevel.Information), ("Voron.Flushing", 400, "Flushed", LogLevel.Debug),
            ("Voron.Flushing", 400, "Flushed", LogLevel.Debug), ("Voron", 101, "Closed", LogLevel.Information));
        log.Entries.Single(entry => entry.Id.Id == 100).Text.Should().StartWith("Opened the environment in 'simulated' for writing at transaction 0, with pages of 4096 bytes, in ")
            .And.Contain("Recovered 0 transactions");
        log.Entries.Single(entry => entry.Id.Id == 101).Text.Should().StartWith("Closed the environment in 'simulated' at transaction 3, in ")
            .And.Contain("0 read transactions are still open");
        log.Entries.First(entry => entry.Id.Id == 400).Text.Should().Contain("up to transaction 1").And.Contain("of 1 transactions");
        log.Created.Should().OnlyHaveUniqueItems("a logger is made once").And.BeSubsetOf(LogCategories.Names);
    }

    [Fact]
    public void Writers_that_are_slowed_are_logged_once_in_a_while()
    {
        var log = new CategoryLog();
        using var environment = StorageEnvironment.Open(
            new SimulatedDisk(),
            new StorageOptions
            {
                InitialJournalFileBytes = 64 << 10,
                MaxJournalFileBytes = 64 << 10,
                FlushThresholdBytes = 64 << 10,
                JournalLimitBytes = 256 << 10,
                ScrubInterval = Timeout.InfiniteTimeSpan,
                LoggerFactory = log,
            });
        var i = 0;
        TestWait.WorkUntil(
            () => environment.GetStatistics().BackPressureWaits >= 3, () => FaultTestKit.Put(environment, i++ % 7, FaultTestKit.Value(i, 15_000)));
        var statistics = environment.GetStatistics();
        statistics.BackPressureWaits.Should().BeGreaterThanOrEqualTo(3);
        statistics.BackPressureTime.Should().BePositive();
        TestWait.Until(() => log.Entries.Any(entry => entry.Id.Name == "WritersSlowed"));
        log.Entries.Count(entry => entry.Id.Name == "WritersSlowed").Should().Be(1);
    }

    /// <summary>The factory is user code, like its loggers.</summary>
    [Fact]
    public void A_factory_that_throws_stops_nothing()
    {
        var factory = new CategoryLog { Failure = new ObjectDisposedException("factory") };
        using (var environment = StorageEnvironment.Open(new SimulatedDisk(), Options(factory)))
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Flush();
            FaultTestKit.Get(environment, 1).Should().Equal(1);
        }

        factory.Calls.Should().BeGreaterThan(1, "it is asked again for the next entry");
    }

    [Fact]
    public void A_factory_may_call_the_environment_and_may_block()
    {
        StorageEnvironment? environment = null;
        using var mayReturn = new ManualResetEventSlim();
        var factory = new CategoryLog
        {
            OnCreate = category =>
            {
                if (category == "Voron.Flushing")
                {
                    FaultTestKit.Put(environment!, 9, [9]);
                    mayReturn.Wait(TestWait.Limit);
                }
            },
        };
        environment = StorageEnvironment.Open(new SimulatedDisk(), Options(factory));
        FaultTestKit.Put(environment, 1, [1]);
        var flushing = new TestThread(() => environment.Flush());
        TestWait.Until(() => FaultTestKit.Get(environment, 9) != null, "the factory has written");
        FaultTestKit.Put(environment, 2, [2]);
        environment.GetStatistics().CommittedTransactions.Should().Be(3);
        mayReturn.Set();
        flushing.Join().Should().BeNull();
        environment.Dispose();
        factory.Entries[^1].Id.Name.Should().Be("Closed");
    }

    private static StorageOptions Options(ILoggerFactory factory) => new() { BackgroundFlush = false, LoggerFactory = factory };

    /// <summary>Keeps the entries of all categories in their order.</summary>
    private sealed class CategoryLog : ILoggerFactory
    {
        private readonly ConcurrentQueue<(string Category, EventId Id, LogLevel Level, string Text)> _entries = new();

        public IReadOnlyList<(string Category, EventId Id, LogLevel Level, string Text)> Entries => [.. _entries];

        public ConcurrentQueue<string> Created { get; } = new();

        public Exception? Failure { get; init; }

        public Action<string>? OnCreate { get; init; }

        public int Calls { get; private set; }

        public ILogger CreateLogger(string categoryName)
        {
            Calls++;
            if (Failure != null)
                throw Failure;
            Created.Enqueue(categoryName);
            OnCreate?.Invoke(categoryName);
            return new Logger(this, categoryName);
        }

        public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

        public void Dispose()
        {
        }

        private sealed class Logger(CategoryLog log, string category) : ILogger
        {
            public IDisposable? BeginScope<TState>(TState state)
                where TState : notnull => null;

            public bool IsEnabled(LogLevel logLevel) => true;

            public void Log<TState>(
                LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
                log._entries.Enqueue((category, eventId, logLevel, formatter(state, exception)));
        }
    }
}
