using System.Text.Json;
using Spectre.Console;
using Voron.Diagnostics;
using Voron.Format;
using Voron.Tests.Faults;
using Voron.Tool.Running;

namespace Voron.Tool.Tests;

/// <summary>The commands that look at an environment which a process has open for writing.</summary>
public sealed class ToolRunningTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    private string Store => Path.Combine(_directory.Path, "store");

    private string StatusPath => Path.Combine(Store, StatusFile.FileName);

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Info_and_stats_show_the_figures_of_the_process()
    {
        using var environment = Open();
        for (var i = 0; i < 5; i++)
            FaultTestKit.Put(environment, i, [1]);
        await WaitForAsync(block => block.CommittedTransactions == 5);
        var info = (await ToolRun.Done("info", Store, "-o", "json")).Json;
        info.GetProperty("version").GetInt32().Should().Be(1);
        info.GetProperty("processId").GetInt32().Should().Be(Environment.ProcessId);
        info.GetProperty("processSeen").GetBoolean().Should().BeTrue();
        info.GetProperty("transaction").GetInt64().Should().Be(5);
        info.GetProperty("ageSeconds").GetDouble().Should().BeInRange(0, 60);
        info.GetProperty("environmentId").GetString().Should().Be(environment.Internals.Engine.EnvironmentId.ToString());
        var stats = (await ToolRun.Done("stats", Store, "-o", "json")).Json;
        stats.GetProperty("transactionsCommitted").GetInt64().Should().Be(5);
        stats.GetProperty("dataFileBytes").GetInt64().Should().Be(environment.GetStatistics().DataFileBytes);
        stats.GetProperty("poisoned").GetBoolean().Should().BeFalse();
        stats.GetProperty("cause").ValueKind.Should().Be(JsonValueKind.Null);
        foreach (var command in new[] { "info", "stats" })
        {
            (await ToolRun.Done(command, Store)).Lines[0].Should().StartWith($"Open for writing in process {Environment.ProcessId}.")
                .And.Contain("s ago");
        }
    }

    [Fact]
    public async Task Without_figures_the_environment_is_in_use()
    {
        using (var environment = StorageEnvironment.Open(Store, new StorageOptions { StatusInterval = TimeSpan.Zero }))
        {
            FaultTestKit.Put(environment, 1, [1]);
            foreach (var command in new[] { "info", "stats", "top" })
            {
                var run = await ToolRun.Of(command, Store);
                run.Code.Should().Be(ExitCode.InUse, command);
                run.Error.Should().Contain(Store);
                File.WriteAllBytes(StatusPath, new byte[StatusFile.Length]);
            }

            (await ToolRun.Of("info", Store)).Code.Should().Be(ExitCode.InUse, "what the file has is no status");
        }
    }

    [Fact]
    public async Task What_a_killed_process_has_left_is_not_taken_for_a_running_one()
    {
        using (var environment = Open())
        {
            FaultTestKit.Put(environment, 1, [1]);
            await WaitForAsync(block => block.CommittedTransactions == 1);
            File.Copy(StatusPath, StatusPath + ".left");
        }

        File.Move(StatusPath + ".left", StatusPath);
        var info = (await ToolRun.Done("info", Store, "-o", "json")).Json;
        info.TryGetProperty("processId", out _).Should().BeFalse("the environment itself can be opened");
        var top = await ToolRun.Of("top", Store);
        top.Code.Should().Be(ExitCode.NothingThere);
        top.Error.Should().Contain("No process");
        (await ToolRun.Of("top", Path.Combine(_directory.Path, "missing"))).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("top", Store, "--interval", "0")).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("top", Store, "--count", "-1")).Code.Should().Be(ExitCode.Usage);
    }

    [Fact]
    public async Task A_process_that_is_not_seen_is_said_to_be_elsewhere()
    {
        using var environment = StorageEnvironment.Open(Store, new StorageOptions { StatusInterval = TimeSpan.Zero });
        var block = new byte[StatusFile.Length];
        var longAgo = DateTime.UtcNow.AddHours(-3).Ticks;
        var figures = new StatusBlock { ProcessId = Environment.ProcessId, ProcessStartTicks = longAgo - 77_000_000_000, UpdatedTicks = longAgo };
        StatusFile.Fill(figures, null, block);
        File.WriteAllBytes(StatusPath, block);
        var run = await ToolRun.Done("info", Store);
        run.Lines[0].Should().Contain("not seen from here").And.Contain("10800");
        (await ToolRun.Done("info", Store, "-o", "json")).Json.GetProperty("processSeen").GetBoolean().Should().BeFalse();
    }

    [Fact]
    public async Task Top_shows_rates_in_lines_and_in_json()
    {
        using var environment = Open();
        using var stop = new CancellationTokenSource();
        var working = Task.Run(
            () =>
            {
                for (var i = 0; !stop.Token.WaitHandle.WaitOne(1); i++)
                    FaultTestKit.Put(environment, i % 100, [1]);
            },
            Cancellation);
        await WaitForAsync(block => block.CommittedTransactions > 0);
        using var reading = environment.BeginRead();
        var json = (await ToolRun.Done("top", Store, "--count", "8", "--interval", "0.1", "-o", "json")).Lines
            .Select(line => JsonDocument.Parse(line).RootElement).ToList();
        var text = (await ToolRun.Done("top", Store, "--count", "3", "--interval", "0.1")).Lines;
        await stop.CancelAsync();
        await working;

        json.Should().HaveCount(8);
        json[0].GetProperty("commitsPerSecond").ValueKind.Should().Be(JsonValueKind.Null, "a rate needs two looks");
        json[^1].GetProperty("commitsPerSecond").ValueKind.Should().Be(JsonValueKind.Number);

        // Between two looks, a busy machine may give the writer no time.
        Largest("commitsPerSecond").Should().BeInRange(1, 1_000_000);
        Largest("journalBytesPerSecond").Should().BePositive();
        json[^1].GetProperty("readers").GetInt32().Should().BeGreaterThanOrEqualTo(1);
        json[^1].GetProperty("oldestReaderSeconds").GetDouble().Should().BePositive();
        json.Select(look => look.GetProperty("transaction").GetInt64()).Should().BeInAscendingOrder();
        text.Should().HaveCount(4);
        text[0].Should().Contain("commits/s").And.Contain("oldest");
        text[1].Should().Contain("KiB").And.EndWith("open");

        double Largest(string figure) =>
            json.Select(look => look.GetProperty(figure)).Where(value => value.ValueKind == JsonValueKind.Number).Max(value => value.GetDouble());
    }

    [Fact]
    public async Task Top_says_when_the_process_has_closed_the_environment()
    {
        var environment = Open();
        await WaitForAsync(_ => true);
        using var output = new AwaitedWriter();
        var top = Program.RunAsync(["top", Store, "--interval", "0.1"], output, TextWriter.Null, Cancellation);
        await output.Written.WaitAsync(TestWait.Limit, Cancellation);
        await TestWait.GiveTimeForAsync(() => top.IsCompleted);
        top.IsCompleted.Should().BeFalse();
        environment.Dispose();
        (await top.WaitAsync(TestWait.Limit, Cancellation)).Should().Be((int)ExitCode.Done);
        output.ToString().Should().EndWith($"Process {Environment.ProcessId} has closed the environment, or has ended.\n");
    }

    [Fact]
    public async Task Top_ends_quietly_when_it_is_cancelled()
    {
        using var environment = Open();
        await WaitForAsync(_ => true);
        using var stop = new CancellationTokenSource();
        using var output = new AwaitedWriter();
        using var error = new StringWriter();
        var top = Program.RunAsync(["top", Store, "--interval", "0.1"], output, error, stop.Token);
        await output.Written.WaitAsync(TestWait.Limit, Cancellation);
        await stop.CancelAsync();
        (await top.WaitAsync(TestWait.Limit, Cancellation)).Should().Be((int)ExitCode.Cancelled);
        error.ToString().Should().BeEmpty();
    }

    /// <summary>The reader's looks and the writer's blocks have the same interval, and drift past each other.</summary>
    [Fact]
    public void Rates_follow_from_the_times_in_the_blocks()
    {
        var meter = new RateMeter();
        var second = TimeSpan.FromSeconds(1);
        var first = new StatusBlock { Session = new RandomId(1, 1), Sequence = 1, UptimeMilliseconds = 1_000, IntervalMilliseconds = 1_000 };
        meter.Add(first, second).Should().BeNull();
        meter.Add(first, second).Should().BeNull("it is the same block");
        var later = first with
        {
            Sequence = 3,
            UptimeMilliseconds = 3_000,
            CommittedTransactions = 400,
            JournalBytes = 2_048,
            JournalWrites = 100,
            JournalWriteTicks = 500_000,
        };
        var rates = meter.Add(later, TimeSpan.Zero)!.Value;
        (rates.Commits, rates.JournalBytes, rates.JournalWrites, rates.WriteMilliseconds).Should().Be((200, 1_024, 50, 0.5));
        meter.Add(later, second)!.Value.Commits.Should().Be(200, "the next block is not due yet");
        meter.Add(later, 5 * second)!.Value.Commits.Should().Be(0, "nothing happens");
        meter.Add(later with { Session = new RandomId(2, 2), Sequence = 4 }, second).Should().BeNull("it is another opening");
    }

    [Theory]
    [InlineData(80)]
    [InlineData(160)]
    public void The_table_of_a_terminal_has_all_figures(int width)
    {
        var now = DateTimeOffset.UtcNow;
        var block = new StatusBlock
        {
            ProcessId = 4_711,
            UpdatedTicks = now.UtcTicks,
            TransactionId = 12_345,
            OpenReaders = 3,
            OldestReaderTicks = now.AddHours(-5).UtcTicks,
            OldestReaderTransactionId = 12_000,
            Flags = StatusFlags.IsPoisoned | StatusFlags.IsBackPressureActive,
            BackupsUnderWay = 1,
            TotalJournalBytes = 5 << 20,
            FreeDataFileBytes = StatusBlock.None,
            VolumeFreeBytes = StatusBlock.None,
        };
        using var text = new StringWriter();
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(text), Ansi = AnsiSupport.No });
        console.Profile.Width = width;
        console.Write(TopView.Table("[not markup]", new TopSample(new StatusReading(block, "[the] cause"), null, now)));
        var shown = text.ToString();
        shown.Should().Contain("[not markup]").And.Contain("4711").And.Contain("POISONED").And.Contain("backup").And.Contain("[the] cause")
            .And.Contain("5 MiB").And.Contain("12,345").And.Contain("5.0 h");
        shown.Split('\n').Should().OnlyContain(line => line.TrimEnd().Length <= width);
    }

    private StorageEnvironment Open() => StorageEnvironment.Open(Store, new StorageOptions { StatusInterval = TimeSpan.FromMilliseconds(10) });

    private Task WaitForAsync(Func<StatusBlock, bool> isAwaited) =>
        TestWait.UntilAsync(() => RunningEnvironment.TryRead(Store, out _) is { } reading && isAwaited(reading.Block));

    /// <summary>An output whose first text can be awaited.</summary>
    private sealed class AwaitedWriter : StringWriter
    {
        private readonly TaskCompletionSource _written = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public AwaitedWriter() => NewLine = "\n";

        public Task Written => _written.Task;

        public override void Write(string? value)
        {
            base.Write(value);
            _written.TrySetResult();
        }

        public override void Write(char[] buffer, int index, int count)
        {
            base.Write(buffer, index, count);
            _written.TrySetResult();
        }
    }
}
