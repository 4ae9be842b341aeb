using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using Spectre.Console;
using Voron.Diagnostics;
using Voron.Tool.Running;

namespace Voron.Tool.Commands;

/// <summary>Shows what a process does that has an environment open for writing, until that process or the user ends it.</summary>
internal static class TopCommand
{
    private const int LinesBetweenHeaders = 20;

    /// <summary>The lock is looked at this often at most: a process that opens the environment at that moment would find it taken.</summary>
    private static readonly TimeSpan BetweenLooksAtLock = TimeSpan.FromSeconds(5);

    /// <summary>A process that is opening or closing the environment has no status for as long as this without being reported.</summary>
    private static readonly TimeSpan LongestWithoutStatus = TimeSpan.FromSeconds(3);

    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        var interval = new Option<double>("--interval") { Description = "Seconds between two looks.", DefaultValueFactory = _ => 1 };
        interval.Validators.Add(given =>
        {
            // What is no number at all is refused elsewhere.
            var isNumber = double.TryParse(given.Tokens.SingleOrDefault()?.Value, CultureInfo.InvariantCulture, out var seconds);
            if (isNumber && seconds is not (>= 0.1 and <= 3_600))
                given.AddError("--interval must be between 0.1 and 3600.");
        });
        var count = new Option<long>("--count") { Description = "The number of looks after which to end; 0 for no end." }.NotNegative();
        var command = new Command("top", "Shows live what a process does with an environment that it has open.") { directory, interval, count };
        return command.Runs(async (parsed, output, stop) =>
        {
            var run = new Run(
                parsed.GetRequiredValue(directory), output, TimeSpan.FromSeconds(parsed.GetValue(interval)), parsed.GetValue(count));
            try
            {
                return await run.ShowAsync(stop).ConfigureAwait(false);
            }
            catch (OperationCanceledException) when (stop.IsCancellationRequested)
            {
                // The usual end, which needs no message.
                return ExitCode.Cancelled;
            }
        });
    }

    /// <summary>One run of the command.</summary>
    private sealed class Run(string directory, ToolOutput output, TimeSpan interval, long count)
    {
        private readonly RateMeter _rates = new();
        private StatusReading? _last;
        private long _lockSeen;
        private long _lines;
        private bool _isOver;

        public async Task<ExitCode> ShowAsync(CancellationToken stop)
        {
            await BeginAsync(stop).ConfigureAwait(false);
            if (output is { Form: OutputForm.Table, IsTerminal: true })
            {
                await output.Terminal.Live(new Text("")).StartAsync(
                    live => LoopAsync(sample => live.UpdateTarget(TopView.Table(directory, sample)), stop)).ConfigureAwait(false);
            }
            else
            {
                await LoopAsync(Print, stop).ConfigureAwait(false);
            }

            if (_isOver)
                PrintEnd();
            return ExitCode.Done;
        }

        // Waits for the first figures of a process that has just opened the environment.
        private async Task BeginAsync(CancellationToken stop)
        {
            var began = Stopwatch.GetTimestamp();
            while (true)
            {
                if (!RunningEnvironment.IsOpenForWriting(directory))
                    throw new ToolException(ExitCode.NothingThere, $"No process has the environment in '{directory}' open for writing.");
                if (RunningEnvironment.TryRead(directory, out var reason) is not null)
                    return;
                if (Stopwatch.GetElapsedTime(began) > LongestWithoutStatus)
                {
                    throw new ToolException(
                        ExitCode.InUse, $"The environment in '{directory}' is open in a process that shows no figures: {reason}. See StorageOptions.StatusInterval.");
                }

                await Task.Delay(100, stop).ConfigureAwait(false);
            }
        }

        private async Task LoopAsync(Action<TopSample> show, CancellationToken stop)
        {
            for (var looks = 1L; ; looks++)
            {
                if (Look() is { } sample)
                    show(sample);
                if (_isOver || looks == count)
                    return;
                await Task.Delay(interval, stop).ConfigureAwait(false);
            }
        }

        // Returns null if there are no figures of a process that may still run.
        private TopSample? Look()
        {
            var reading = RunningEnvironment.TryRead(directory, out _);
            var isNew = reading is not null
                && (_last is null || _last.Block.Session != reading.Block.Session || _last.Block.Sequence != reading.Block.Sequence);
            if (reading is null || (!isNew && !ProcessCheck.IsSeen(reading.Block.ProcessId, reading.Block.ProcessStartTicks)))
                LookAtLock();
            if (reading is null || _isOver)
                return null;
            _last = reading;
            var now = DateTimeOffset.UtcNow;
            var age = TimeSpan.FromSeconds(RunningFacts.AgeSeconds(reading.Block, now));
            return new TopSample(reading, _rates.Add(reading.Block, age), now);
        }

        private void LookAtLock()
        {
            if (_lockSeen != 0 && Stopwatch.GetElapsedTime(_lockSeen) < BetweenLooksAtLock)
                return;
            _lockSeen = Stopwatch.GetTimestamp();
            _isOver = !RunningEnvironment.IsOpenForWriting(directory);
        }

        private void Print(TopSample sample)
        {
            if (output.Form == OutputForm.Json)
            {
                output.WriteFacts(TopView.Facts(sample));
                return;
            }

            if (_lines++ % LinesBetweenHeaders == 0)
                output.WriteText(TopView.Header);
            output.WriteText(TopView.Line(sample));
        }

        private void PrintEnd()
        {
            if (output.Form == OutputForm.Json)
                output.WriteFacts([("time", DateTimeOffset.UtcNow), ("process id", (uint?)_last?.Block.ProcessId), ("ended", true)]);
            else
                output.WriteText($"Process {_last?.Block.ProcessId} has closed the environment, or has ended.");
        }
    }
}
