using System.Buffers.Binary;
using System.Diagnostics;

namespace Voron.Torture.Model;

/// <summary>
/// Writers and readers on several threads. Each transaction gives all keys of a group the same stamp, moves money between accounts, and
/// counts itself: a snapshot can be judged from its own content alone. So can the object attached to its state, which the content names.
/// </summary>
internal sealed class IsolationRun(StorageEnvironment environment, int seed)
{
    private const int Accounts = 500;
    private const int Groups = 40;
    private const int KeysPerGroup = 30;
    private const long Money = 1000;

    private static readonly CommitStateKey<Attached> StateKey = new("count");

    private static readonly byte[] AttachedKey = [1];

    private readonly object _gate = new();
    private volatile bool _stopping;
    private long _acknowledged;
    private long _snapshots;
    private Exception? _failure;

    /// <summary>The number of transactions acknowledged to the writers; each counts itself once.</summary>
    public long Acknowledged => Volatile.Read(ref _acknowledged);

    /// <summary>The number of snapshots that were read and judged.</summary>
    public long Snapshots => Volatile.Read(ref _snapshots);

    /// <summary>The time for which the threads have run, without the time of the work done meanwhile.</summary>
    public TimeSpan RunTime { get; private set; }

    public void Prepare()
    {
        using var writing = environment.BeginWrite();
        var accounts = writing.CreateTree("accounts");
        for (var account = 0; account < Accounts; account++)
            accounts.Put(Number(account), Number(Money));
        writing.CreateTree("groups");
        writing.CreateTree("blobs");
        Count(writing.CreateTree("count"), 1);
        _acknowledged = 1;
        writing.Commit();
    }

    /// <summary>Runs the threads for a time, and throws the failure that any of them has found.</summary>
    /// <param name="meanwhile">An action to perform while they run, before the time begins.</param>
    public void Run(TimeSpan time, int writers, int grouped, int readers, Action? meanwhile = null)
    {
        _stopping = false;
        var threads = new List<Thread>();
        for (var i = 0; i < writers; i++)
            threads.Add(Start(new Random(seed + i), Write));
        for (var i = 0; i < grouped; i++)
            threads.Add(Start(new Random(seed + 100 + i), WriteInGroupCommits));
        for (var i = 0; i < readers; i++)
            threads.Add(Start(new Random(seed + 200 + i), Read));
        try
        {
            meanwhile?.Invoke();
            lock (_gate)
            {
                var begun = Stopwatch.GetTimestamp();
                if (_failure == null)
                    Monitor.Wait(_gate, time);
                RunTime += Stopwatch.GetElapsedTime(begun);
            }
        }
        finally
        {
            _stopping = true;
            foreach (var thread in threads)
                thread.Join();
        }

        if (_failure != null)
            throw new InvalidOperationException($"seed {seed}: {_failure.Message}", _failure);
    }

    /// <summary>Judges a snapshot, and returns a number that represents all of its bytes.</summary>
    public static ulong Judge(ReadTransaction reading)
    {
        var hash = new HashCode();
        var sum = 0L;
        foreach (var entry in reading.OpenTree("accounts").GetEntries())
        {
            sum += BinaryPrimitives.ReadInt64BigEndian(entry.Value);
            hash.AddBytes(entry.Value);
        }

        Require(sum == Accounts * Money, $"the accounts hold {sum} as of {reading.TransactionId}, and should hold {Accounts * Money}");
        var stamps = new Dictionary<byte, (long Stamp, int Keys)>();
        var groups = reading.OpenTree("groups");
        foreach (var entry in groups.GetEntries())
        {
            var stamp = BinaryPrimitives.ReadInt64BigEndian(entry.Value);
            var known = stamps.GetValueOrDefault(entry.Key[0], (stamp, 0));
            Require(known.Item1 == stamp, $"group {entry.Key[0]} has the stamps {known.Item1} and {stamp} as of {reading.TransactionId}");
            Require(stamp <= reading.TransactionId, $"transaction {stamp} is seen as of {reading.TransactionId}");
            Require(entry.Value[8..].IndexOfAnyExcept((byte)stamp) < 0, $"group {entry.Key[0]} has a torn value as of {reading.TransactionId}");
            stamps[entry.Key[0]] = (stamp, known.Item2 + 1);
            hash.AddBytes(entry.Value);
        }

        foreach (var (group, known) in stamps)
            Require(known.Keys == KeysPerGroup, $"group {group} has {known.Keys} keys as of {reading.TransactionId}");
        foreach (var entry in reading.OpenTree("blobs").GetEntries())
        {
            Require(entry.Value.IndexOfAnyExcept(entry.Value[0]) < 0, $"a long value is torn as of {reading.TransactionId}");
            hash.Add(entry.Value.Length);
            hash.Add(entry.Value[0]);
        }

        hash.Add(Counted(reading));
        return (uint)hash.ToHashCode();
    }

    public static long Counted(ReadTransaction reading)
    {
        reading.OpenTree("count").TryGet([0], out var value);
        return BinaryPrimitives.ReadInt64BigEndian(value);
    }

    private Thread Start(Random random, Action<Random> work)
    {
        var thread = new Thread(() =>
        {
            try
            {
                while (!_stopping)
                    work(random);
            }
            catch (Exception e)
            {
                lock (_gate)
                {
                    _failure ??= e;
                    Monitor.PulseAll(_gate);
                }
            }
        });
        thread.Start();
        return thread;
    }

    private void Write(Random random)
    {
        using var writing = environment.BeginWrite();
        Change(writing, random);
        switch (random.Next(10))
        {
            case 0:
                return;
            case < 4:
                writing.CommitAsync().AsTask().GetAwaiter().GetResult();
                break;
            default:
                writing.Commit();
                break;
        }

        Interlocked.Increment(ref _acknowledged);
    }

    private void WriteInGroupCommits(Random random)
    {
        var tasks = new List<Task>();
        for (var i = random.Next(1, 8); i > 0; i--)
        {
            var own = new Random(random.Next());
            var fails = random.Next(8) == 0;
            var task = environment.WriteAsync(writing =>
            {
                Change(writing, own);
                if (fails)
                    throw new OperationCanceledException("as planned");
            }).AsTask();
            tasks.Add(task);
        }

        foreach (var task in tasks)
        {
            try
            {
                task.GetAwaiter().GetResult();
                Interlocked.Increment(ref _acknowledged);
            }
            catch (OperationCanceledException)
            {
            }
        }
    }

    private static void Change(WriteTransaction writing, Random random)
    {
        var accounts = writing.OpenTree("accounts");
        for (var i = random.Next(1, 10); i > 0; i--)
        {
            var (from, to, amount) = (random.Next(Accounts), random.Next(Accounts), random.Next(100));
            accounts.TryGet(Number(from), out var value);
            accounts.Put(Number(from), Number(BinaryPrimitives.ReadInt64BigEndian(value) - amount));
            accounts.TryGet(Number(to), out value);
            accounts.Put(Number(to), Number(BinaryPrimitives.ReadInt64BigEndian(value) + amount));
        }

        Stamp(writing, random);
        var blobs = writing.OpenTree("blobs");
        if (random.Next(4) == 0)
        {
            var bytes = new byte[random.Next(1, random.Next(10) == 0 ? 200_000 : 20_000)];
            bytes.AsSpan().Fill((byte)random.Next(256));
            blobs.Put([(byte)random.Next(20)], bytes);
        }
        else if (random.Next(4) == 0)
        {
            blobs.Delete([(byte)random.Next(20)]);
        }

        Count(writing.OpenTree("count"), 1);
        Attach(writing, random.Next(4));
    }

    // The count names the object, so that each snapshot shows which one it must have.
    private static void Attach(WriteTransaction writing, int choice)
    {
        var count = writing.OpenTree("count");
        writing.TryGetState(StateKey, out var attached);
        RequireAttached(attached, count.ToTree(), writing.TransactionId);
        if (choice < 2)
            return;
        var stamp = choice == 2 ? writing.TransactionId : 0;
        count.Put(AttachedKey, Number(stamp));
        writing.SetState(StateKey, stamp == 0 ? null : new Attached(stamp));
    }

    private static void RequireAttached(Attached? attached, Tree count, long id)
    {
        var expected = count.TryGet(AttachedKey, out var value) ? BinaryPrimitives.ReadInt64BigEndian(value) : 0;
        var stamp = attached?.Stamp ?? 0;
        Require(stamp == expected, $"the object {stamp} is attached to the state as of {id}, and should be {expected}");
    }

    private static void Stamp(WriteTransaction writing, Random random)
    {
        var groups = writing.OpenTree("groups");
        var group = (byte)random.Next(Groups);
        if (random.Next(5) == 0)
        {
            for (var key = 0; key < KeysPerGroup; key++)
                groups.Delete([group, (byte)key]);
            return;
        }

        var value = new byte[random.Next(8, 300)];
        value.AsSpan().Fill((byte)writing.TransactionId);
        BinaryPrimitives.WriteInt64BigEndian(value, writing.TransactionId);
        for (var key = 0; key < KeysPerGroup; key++)
            groups.Put([group, (byte)key], value);
    }

    private void Read(Random random)
    {
        var least = Acknowledged;
        using var reading = environment.BeginRead();
        var id = reading.TransactionId;
        var first = Judge(reading);
        reading.TryGetState(StateKey, out var attached);
        RequireAttached(attached, reading.OpenTree("count"), id);
        Require(Counted(reading) >= least, $"{least} transactions were acknowledged, and a reader at {id} sees {Counted(reading)}");
        Interlocked.Increment(ref _snapshots);
        for (var i = random.Next(4) == 0 ? random.Next(1, 20) : 0; i > 0 && !_stopping; i--)
            Require(Judge(reading) == first, $"the snapshot {id} has changed");

        using var later = environment.BeginRead();
        Require(later.TransactionId >= id, $"a reader sees {later.TransactionId} after {id}");
        Require(Counted(later) >= Counted(reading), $"transactions were lost between {id} and {later.TransactionId}");
    }

    private static void Count(WriteTree tree, long by)
    {
        var count = tree.TryGet([0], out var value) ? BinaryPrimitives.ReadInt64BigEndian(value) : 0;
        tree.Put([0], Number(count + by));
    }

    private static byte[] Number(long number)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(bytes, number);
        return bytes;
    }

    private static void Require(bool holds, string message)
    {
        if (!holds)
            throw new ModelMismatchException(message);
    }

    private sealed record Attached(long Stamp);
}
