using Voron;

namespace JobQueue;

/// <summary>
/// A queue in three trees: <c>jobs</c> has the payloads by number; <c>due</c> has, for each job, the time from which it may be taken and its
/// number as the key, and the number of attempts as the value; <c>counters</c> has the last number. A lease moves the time of a job ahead. The
/// moved entry proves the lease: when another worker has taken the job since, the entry is not there any more.
/// </summary>
internal sealed class Jobs(StorageEnvironment environment)
{
    private const int IdBytes = sizeof(long);
    private const int DueBytes = 2 * sizeof(long);

    public ValueTask<long> EnqueueAsync(byte[] payload, DateTime dueAt) => environment.WriteAsync((payload, dueAt), static (writing, job) =>
    {
        var id = writing.OpenTree("counters").Add("last"u8, 1);
        writing.OpenTree("jobs").Put(IdKey(stackalloc byte[IdBytes], id), job.payload);
        writing.OpenTree("due").Put(DueKey(stackalloc byte[DueBytes], job.dueAt, id), [0]);
        return id;
    });

    /// <summary>Leases the job that has been due for the longest time; returns null if none is due.</summary>
    public ValueTask<Job?> LeaseAsync(DateTime now, TimeSpan duration) => environment.WriteAsync((now, until: now + duration), static (writing, time) =>
    {
        var due = writing.OpenTree("due");
        if (!due.TryGetFirst(out var next))
            return null;
        var key = new KeyReader(next.Key);
        if (key.ReadDateTime(DateTimeKind.Utc) > time.now)
            return null;

        var id = key.ReadInt64();
        var attempt = (byte)Math.Min(byte.MaxValue, next.Value[0] + 1);
        due.Delete(next.Key.ToArray());
        due.Put(DueKey(stackalloc byte[DueBytes], time.until, id), [attempt]);
        return new Job(id, writing.OpenTree("jobs").Get(IdKey(stackalloc byte[IdBytes], id))!, attempt, time.until);
    });

    /// <summary>Removes a job that is done; returns false if its lease was lost, and another worker has it.</summary>
    public ValueTask<bool> CompleteAsync(Job job) => environment.WriteAsync(job, static (writing, job) =>
        writing.OpenTree("due").Delete(DueKey(stackalloc byte[DueBytes], job.LeasedUntil, job.Id))
        && writing.OpenTree("jobs").Delete(IdKey(stackalloc byte[IdBytes], job.Id)));

    /// <summary>Returns the number of jobs, and of those that are leased or not due yet.</summary>
    public (long Jobs, long Leased) Count(DateTime now)
    {
        using var reading = environment.BeginRead();
        var key = new KeyWriter(stackalloc byte[DueBytes]);
        key.Add(now);
        return (reading.OpenTree("jobs").Count, reading.OpenTree("due").Range(KeyRange.From(key.Written)).Count());
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
