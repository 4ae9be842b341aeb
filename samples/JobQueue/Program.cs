// A queue of jobs, from the command line:
//
//   enqueue COUNT              adds jobs
//   work WORKERS [FAILING]     does them, until none is left; each attempt at the job of number FAILING fails
//   die COUNT                  leases jobs and ends the process with the jobs undone, as a crash does
//   status                     prints the state of the queue
//   dead                       prints the jobs that are not tried again, and why
//   revive ID                  lets one of them be tried again
//   measure COUNT WORKERS      adds jobs, does them, and prints how long a claim takes while the queue becomes shorter
//
// The store is the directory "jobs-data", or the value of the variable JOBS_DIRECTORY.
using System.Diagnostics;
using System.Globalization;
using System.Text;
using JobQueue;
using Voron;

var leaseTime = TimeSpan.FromSeconds(2);
var directory = Environment.GetEnvironmentVariable("JOBS_DIRECTORY") ?? "jobs-data";
await using var environment = await StorageEnvironment.OpenAsync(directory, new StorageOptions { Trees = { "jobs", "due", "dead", "counters" } });
var queue = new Jobs(environment);

switch (args)
{
    case ["enqueue", var count]:
        await EnqueueAsync(Number(count));
        return 0;

    case ["die", var count]:
        for (var i = 0; i < Number(count); i++)
            await queue.LeaseAsync(DateTime.UtcNow, leaseTime);
        Environment.FailFast("The worker dies with its jobs undone.");
        return 1;

    case ["work", var workers, .. var failing]:
        // Each worker takes a job, does it, and completes it: all of them share transactions, and therefore writes to the device.
        var counts = await Task.WhenAll(Enumerable.Range(0, Number(workers)).Select(_ => WorkAsync(failing is [var id] ? Number(id) : 0)));
        Console.WriteLine($"done: {counts.Sum(count => count.Done)}, of which again: {counts.Sum(count => count.Again)}");
        return 0;

    case ["status"]:
        var (jobs, leased) = queue.Count(DateTime.UtcNow);
        Console.WriteLine($"jobs: {jobs}, leased: {leased}");
        return 0;

    case ["dead"]:
        foreach (var (job, reason) in queue.Dead())
            Console.WriteLine($"{job}: {reason}");
        return 0;

    case ["revive", var id]:
        return await queue.ReviveAsync(Number(id), DateTime.UtcNow) ? 0 : 1;

    case ["measure", var count, var workers]:
        await EnqueueAsync(Number(count));
        await MeasureAsync(Number(count), Number(workers));
        return 0;

    default:
        Console.Error.WriteLine("enqueue COUNT | work WORKERS [FAILING] | die COUNT | status | dead | revive ID | measure COUNT WORKERS");
        return 1;
}

static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);

// Many at once, so that they share commits.
Task EnqueueAsync(int count) => Parallel.ForEachAsync(
    Enumerable.Range(0, count), new ParallelOptions { MaxDegreeOfParallelism = 512 },
    async (i, _) => await queue.EnqueueAsync(Encoding.UTF8.GetBytes($"job {i}"), DateTime.UtcNow));

async Task<(int Done, int Again)> WorkAsync(long failing)
{
    var (done, again) = (0, 0);
    while (queue.Count(DateTime.UtcNow).Jobs > 0)
    {
        // Another worker may do the last job while this one waits for it.
        using var patience = new CancellationTokenSource(leaseTime);
        Job job;
        try
        {
            job = await queue.TakeAsync(leaseTime, patience.Token);
        }
        catch (OperationCanceledException)
        {
            continue;
        }

        await Task.Yield();                 // the work
        if (job.Id == failing)
        {
            await queue.FailAsync(job, $"Attempt {job.Attempt} has failed.", firstPause: TimeSpan.FromMilliseconds(10));
        }
        else if (await queue.CompleteAsync(job))
        {
            done++;
            again += job.Attempt > 1 ? 1 : 0;
        }
    }

    return (done, again);
}

// The claims of each tenth of the jobs, from the longest queue to the shortest.
async Task MeasureAsync(int count, int workers)
{
    var claims = new List<double>(count);
    await Task.WhenAll(Enumerable.Range(0, workers).Select(_ => Task.Run(async () =>
    {
        while (true)
        {
            var began = Stopwatch.GetTimestamp();
            if (await queue.LeaseAsync(DateTime.UtcNow, TimeSpan.FromMinutes(10)) is not { } job)
                return;
            var time = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            await queue.CompleteAsync(job);
            lock (claims)
                claims.Add(time);
        }
    })));
    foreach (var part in claims.Chunk(Math.Max(1, count / 10)).Where(part => part.Length >= Math.Max(1, count / 10)))
    {
        Array.Sort(part);
        var (median, p99) = (part[part.Length / 2], part[part.Length * 99 / 100]);
        Console.WriteLine(FormattableString.Invariant($"claims: {part.Length}, median {median:0.00} ms, p99 {p99:0.00} ms"));
    }
}
