using System.Text;
using Voron;

namespace JobQueue;

/// <summary>
/// A queue in four trees: <c>jobs</c> has the payloads by number; <c>due</c> has, for each job, the time from which it may be taken and its
/// number as the key, and the number of attempts as the value; <c>dead</c> has what went wrong with the jobs that are not tried again;
/// <c>counters</c> has the last number. A lease moves the time of a job ahead. The moved entry proves the lease: when another worker has taken the
/// job since, the entry is not there any more.
/// </summary>
/// <param name="environment">The environment, with these trees.</param>
/// <param name="maxAttempts">How often a job is tried before it is dead; at most 255.</param>
internal sealed class Jobs(StorageEnvironment environment, byte maxAttempts = 5)
{
    private const int IdBytes = sizeof(long);
    private const int DueBytes = 2 * sizeof(long);

    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // Completed when a job is put, or put back: wakes all workers that wait. Only this process can have the environment open.
    private TaskCompletionSource _news = NewSignal();

    public async ValueTask<long> EnqueueAsync(byte[] payload, DateTime dueAt)
    {
        var id = await environment.WriteAsync((payload, dueAt), static (writing, job) =>
        {
            var id = writing.OpenTree("counters").Add("last"u8, 1);
            writing.OpenTree("jobs").Put(IdKey(stackalloc byte[IdBytes], id), job.payload);
            writing.OpenTree("due").Put(DueKey(stackalloc byte[DueBytes], job.dueAt, id), [0]);
            return id;
        });
        Signal();
        return id;
    }

    /// <summary>Leases the job that has been due for the longest time; returns null if none is due.</summary>
    public ValueTask<Job?> LeaseAsync(DateTime now, TimeSpan duration) =>
        environment.WriteAsync((now, until: now + duration, maxAttempts), static (writing, time) =>
        {
            var due = writing.OpenTree("due");
            Span<byte> buffer = stackalloc byte[DueBytes];
            while (due.TryGetFirst(out var next))
            {
                var key = new KeyReader(next.Key);
                if (key.ReadDateTime(DateTimeKind.Utc) > time.now)
                    break;
                var (id, attempts) = (key.ReadInt64(), next.Value[0]);
                due.Delete(next.Key.ToArray());

                // Its workers have died each time.
                if (attempts >= time.maxAttempts)
                {
                    writing.OpenTree("dead").Put(IdKey(buffer, id), "No worker has come to an end with it."u8);
                    continue;
                }

                due.Put(DueKey(buffer, time.until, id), [(byte)(attempts + 1)]);
                return new Job(id, writing.OpenTree("jobs").Get(IdKey(buffer, id))!, attempts + 1, time.until);
            }

            return null;
        });

    /// <summary>Leases a job, and waits for one as long as none is due.</summary>
    public async ValueTask<Job> TakeAsync(TimeSpan duration, CancellationToken stop)
    {
        while (true)
        {
            // Taken before the look, so that a job that comes between the look and the wait ends the wait.
            var news = Volatile.Read(ref _news);
            if (await LeaseAsync(DateTime.UtcNow, duration) is { } job)
                return job;
            var pause = NextDue() is { } due ? due - DateTime.UtcNow : LongestPause;
            try
            {
                await news.Task.WaitAsync(TimeSpan.FromTicks(Math.Clamp(pause.Ticks, TimeSpan.TicksPerMillisecond, LongestPause.Ticks)), stop);
            }
            catch (TimeoutException)
            {
                // The next job is due.
            }
        }
    }

    /// <summary>Removes a job that is done; returns false if its lease was lost, and another worker has it.</summary>
    public ValueTask<bool> CompleteAsync(Job job) => environment.WriteAsync(job, static (writing, job) =>
        writing.OpenTree("due").Delete(DueKey(stackalloc byte[DueBytes], job.LeasedUntil, job.Id))
        && writing.OpenTree("jobs").Delete(IdKey(stackalloc byte[IdBytes], job.Id)));

    /// <summary>
    /// Puts a job back that has failed: it is due again after a pause that doubles with each attempt. After the last attempt it is dead.
    /// Returns false if its lease was lost.
    /// </summary>
    public async ValueTask<bool> FailAsync(Job job, string reason, TimeSpan firstPause)
    {
        var pause = Math.Min(LongestPause.TotalMilliseconds, firstPause.TotalMilliseconds * Math.Pow(2, job.Attempt - 1));
        var again = job.Attempt < maxAttempts ? DateTime.UtcNow.AddMilliseconds(pause) : (DateTime?)null;
        var isMine = await environment.WriteAsync((job, reason, again), static (writing, failed) =>
        {
            var due = writing.OpenTree("due");
            if (!due.Delete(DueKey(stackalloc byte[DueBytes], failed.job.LeasedUntil, failed.job.Id)))
                return false;
            if (failed.again is { } time)
                due.Put(DueKey(stackalloc byte[DueBytes], time, failed.job.Id), [(byte)failed.job.Attempt]);
            else
                writing.OpenTree("dead").Put(IdKey(stackalloc byte[IdBytes], failed.job.Id), Encoding.UTF8.GetBytes(failed.reason));
            return true;
        });
        Signal();
        return isMine;
    }

    /// <summary>Returns the numbers of the dead jobs, and what went wrong with them.</summary>
    public List<(long Id, string Reason)> Dead()
    {
        using var reading = environment.BeginRead();
        var dead = new List<(long, string)>();
        foreach (var entry in reading.OpenTree("dead").GetEntries())
            dead.Add((new KeyReader(entry.Key).ReadInt64(), Encoding.UTF8.GetString(entry.Value)));
        return dead;
    }

    /// <summary>Lets a dead job be tried again from the first attempt on; returns false if there is no dead job of that number.</summary>
    public async ValueTask<bool> ReviveAsync(long id, DateTime dueAt)
    {
        var isRevived = await environment.WriteAsync((id, dueAt), static (writing, job) =>
        {
            if (!writing.OpenTree("dead").Delete(IdKey(stackalloc byte[IdBytes], job.id)))
                return false;
            writing.OpenTree("due").Put(DueKey(stackalloc byte[DueBytes], job.dueAt, job.id), [0]);
            return true;
        });
        Signal();
        return isRevived;
    }

    /// <summary>Returns the number of jobs that are not dead, and of those that are leased or not due yet.</summary>
    public (long Jobs, long Leased) Count(DateTime now)
    {
        using var reading = environment.BeginRead();
        var due = reading.OpenTree("due");
        var key = new KeyWriter(stackalloc byte[DueBytes]);
        key.Add(now);
        return (due.Count, due.Range(KeyRange.From(key.Written)).Count());
    }

    private void Signal() => Interlocked.Exchange(ref _news, NewSignal()).SetResult();

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private DateTime? NextDue()
    {
        using var reading = environment.BeginRead();
        return reading.OpenTree("due").TryGetFirst(out var next) ? new KeyReader(next.Key).ReadDateTime(DateTimeKind.Utc) : null;
    }

    private static ReadOnlySpan<byte> IdKey(Span<byte> buffer, long id)
    {
        var key = new KeyWriter(buffer);
        key.Add(id);
        return key.Written;
    }

    private static ReadOnlySpan<byte> DueKey(Span<byte> buffer, DateTime dueAt, long id)
    {
        var key = new KeyWriter(buffer);
        key.Add(dueAt);
        key.Add(id);
        return key.Written;
    }
}
