// A queue of jobs, from the command line:
//
//   enqueue COUNT              adds jobs
//   work WORKERS               does them, until none is left
//   die COUNT                  leases jobs and ends the process with the jobs undone, as a crash does
//   status                     prints what is there
//
// The store is the directory "jobs-data", or the value of the variable JOBS_DIRECTORY.
using System.Globalization;
using System.Text;
using JobQueue;
using Voron;

var leaseTime = TimeSpan.FromSeconds(2);
var directory = Environment.GetEnvironmentVariable("JOBS_DIRECTORY") ?? "jobs-data";
await using var environment = await StorageEnvironment.OpenAsync(directory, new StorageOptions { Trees = { "jobs", "due", "counters" } });
var queue = new Jobs(environment);

switch (args)
{
    case ["enqueue", var count]:
        for (var i = 0; i < Number(count); i++)
            await queue.EnqueueAsync(Encoding.UTF8.GetBytes($"job {i}"), DateTime.UtcNow);
        return 0;

    case ["die", var count]:
        for (var i = 0; i < Number(count); i++)
            await queue.LeaseAsync(DateTime.UtcNow, leaseTime);
        Environment.FailFast("The worker dies with its jobs undone.");
        return 1;

    case ["work", var workers]:
        // Each worker takes a job, does it, and completes it: all of them share transactions, and therefore writes to the device.
        var counts = await Task.WhenAll(Enumerable.Range(0, Number(workers)).Select(_ => WorkAsync()));
        Console.WriteLine($"done: {counts.Sum(count => count.Done)}, of which again: {counts.Sum(count => count.Again)}");
        return 0;

    case ["status"]:
        var (jobs, leased) = queue.Count(DateTime.UtcNow);
        Console.WriteLine($"jobs: {jobs}, leased: {leased}");
        return 0;

    default:
        Console.Error.WriteLine("enqueue COUNT | work WORKERS | die COUNT | status");
        return 1;
}

static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);

async Task<(int Done, int Again)> WorkAsync()
{
    var (done, again) = (0, 0);
    while (queue.Count(DateTime.UtcNow).Jobs > 0)
    {
        if (await queue.LeaseAsync(DateTime.UtcNow, leaseTime) is not { } job)
        {
            await Task.Delay(50);           // all that is left is leased
            continue;
        }

        await Task.Yield();                 // the work
        if (await queue.CompleteAsync(job))
        {
            done++;
            again += job.Attempt > 1 ? 1 : 0;
        }
    }

    return (done, again);
}
