using System.Buffers.Binary;
using Voron.Simulation.Harness;
using Voron.Testing;

namespace Voron.Torture.Schedules;

/// <summary>
/// The state that each transaction has left, and the promises made for it. Threads of a schedule run one at a time, so the model needs no lock
/// and is exact: a reader that begins after a commit has returned must see that commit.
/// </summary>
internal sealed class ScheduleModel(int keys)
{
    private const int HeldKey = 1;

    private static readonly CommitStateKey<Attached> StateKey = new("stamp");

    // Behind the stamps of the keys, that of the object attached to the state; 0 when there is none.
    private readonly SortedDictionary<long, int[]> _states = new() { [0] = new int[keys + 1] };
    private int _stamp;

    public int Keys => keys;

    /// <summary>The newest transaction whose commit has returned.</summary>
    public long Acknowledged { get; private set; }

    /// <summary>The newest transaction on which a reader has begun.</summary>
    public long Seen { get; private set; }

    /// <summary>The newest transaction that the model knows.</summary>
    public long Newest { get; private set; }

    /// <summary>True if there are transactions unknown to the model: returning space takes its own transaction, which changes nothing.</summary>
    public bool HasForeignTransactions { get; set; }

    /// <summary>Puts a key with a new stamp or, now and then, deletes it; afterwards records the change in the state.</summary>
    public void Change(WriteTree tree, int[] state, int key)
    {
        var stamp = ++_stamp;
        var isDeleted = state[key] != 0 && stamp % 5 == 0;
        if (isDeleted)
            tree.Delete(KeyOf(key));
        else
            tree.Put(KeyOf(key), ValueOf(key, stamp));
        state[key] = isDeleted ? 0 : stamp;
    }

    /// <summary>Now and then attaches an object to the state, or removes it.</summary>
    public void Attach(WriteTransaction writing, int[] state)
    {
        if (_stamp % 2 == 0)
            return;
        var isRemoved = _stamp % 7 == 0;
        writing.SetState(StateKey, isRemoved ? null : new Attached(_stamp));
        state[keys] = isRemoved ? 0 : _stamp;
    }

    /// <exception cref="BrokenPromiseException">The transaction has an object that does not belong to the state.</exception>
    public void CheckAttached(WriteTransaction writing, int[] state, string who)
    {
        var stamp = writing.TryGetState(StateKey, out var attached) ? attached.Stamp : 0;
        RequireAttached(stamp, state[keys], writing.TransactionId, who);
    }

    /// <inheritdoc cref="CheckAttached(WriteTransaction, int[], string)"/>
    public void CheckAttached(ReadTransaction reading, string who)
    {
        var id = reading.TransactionId;
        RequireAttached(StampAttachedTo(reading), StateOf(id)[keys], id, who);
    }

    /// <summary>Requires that nothing is attached to the state of an environment that was opened again.</summary>
    public static void CheckNothingAttached(ReadTransaction reading, string who) =>
        RequireAttached(StampAttachedTo(reading), 0, reading.TransactionId, who);

    private static int StampAttachedTo(ReadTransaction reading) => reading.TryGetState(StateKey, out var attached) ? attached.Stamp : 0;

    private static void RequireAttached(int stamp, int expected, long id, string who) => BrokenPromiseException.Require(
        stamp == expected, $"{who} at transaction {id} has the attached object {stamp}, and should have {expected}.");

    /// <summary>The generation of the transaction begun last. An id alone is reused if its transaction was not committed.</summary>
    public long Generation { get; private set; }

    /// <summary>
    /// Does the same as <see cref="Begin(long)"/> for one of several operations of a transaction, which may be run again in another transaction.
    /// </summary>
    public int[] Begin(WriteTransaction writing)
    {
        var generation = writing.Body.Generation;
        if (generation != Generation && _states.ContainsKey(writing.TransactionId))
            TakeBack(writing.TransactionId);
        Generation = generation;
        return Begin(writing.TransactionId);
    }

    /// <summary>Returns the state with which a transaction of the given id begins, or which it has left so far.</summary>
    public int[] Begin(long id)
    {
        BrokenPromiseException.Require(
            id == Newest || id == Newest + 1 || (HasForeignTransactions && id > Newest), $"A writer has the id {id} after {Newest}.");
        return [.. StateOf(id)];
    }

    /// <summary>Records, before the commit, the state that a transaction will leave.</summary>
    public void Leave(long id, int[] state)
    {
        _states[id] = state;
        Newest = Math.Max(Newest, id);
    }

    /// <summary>Removes a transaction that is not committed after all.</summary>
    public void TakeBack(long id)
    {
        _states.Remove(id);
        Newest = _states.Keys.Last();
    }

    /// <summary>The oldest transaction that was reported as not committed, now or after a reopening.</summary>
    public long NotCommitted { get; private set; } = long.MaxValue;

    /// <summary>Records that a commit has failed, or an empty commit that builds on that transaction.</summary>
    public void Fail(long id, CommitOutcome outcome)
    {
        BrokenPromiseException.Require(id > Acknowledged, $"Transaction {id} fails, and {Acknowledged} was acknowledged.");
        if (outcome == CommitOutcome.NotCommitted)
            NotCommitted = Math.Min(NotCommitted, id);
    }

    public void Acknowledge(long id) => Acknowledged = Math.Max(Acknowledged, id);

    public void See(long id) => Seen = Math.Max(Seen, id);

    public int[] StateOf(long id)
    {
        if (_states.TryGetValue(id, out var state))
            return state;
        return _states.Last(known => known.Key < id).Value;
    }

    /// <exception cref="BrokenPromiseException">The data read is not the data that the transaction left.</exception>
    public void Check(Tree tree, long id, int key, string who)
    {
        var expected = StateOf(id)[key];
        var isThere = tree.TryGet(KeyOf(key), out var value);
        BrokenPromiseException.Require(
            isThere == (expected != 0), $"{who} at transaction {id} {(isThere ? "finds" : "misses")} key {key}, which has the stamp {expected} there.");
        if (!isThere)
            return;
        CheckValue(value, id, key, expected, who);
        if (key != HeldKey)
            return;

        // A span is valid as long as the transaction is open, whatever other threads do meanwhile.
        SchedulePoint.Reach(SchedulePlace.Script);
        CheckValue(value, id, key, expected, who);
    }

    private static void CheckValue(ReadOnlySpan<byte> value, long id, int key, int expected, string who)
    {
        var stamp = value.Length < sizeof(int) ? -1 : BinaryPrimitives.ReadInt32LittleEndian(value);
        BrokenPromiseException.Require(stamp == expected, $"{who} at transaction {id} reads stamp {stamp} of key {key}, which has {expected} there.");
        BrokenPromiseException.Require(
            value.Length == LengthOf(key, stamp) && value[sizeof(int)..].IndexOfAnyExcept((byte)(stamp + key)) < 0,
            $"{who} at transaction {id} reads bytes of key {key} that no transaction wrote together.");
    }

    /// <summary>Checks everything that a transaction reads, by key and also with a cursor.</summary>
    public void CheckAll(ReadTransaction reading, string who)
    {
        var id = reading.TransactionId;
        if (!reading.TryOpenTree(ScheduleWorld.TreeName, out var tree))
        {
            CheckEmpty(id, who);
            return;
        }
        for (var key = 0; key < keys; key++)
            Check(tree, id, key, who);
        var state = StateOf(id);
        var count = 0;
        foreach (var entry in tree.GetEntries())
        {
            CheckValue(entry.Value, id, entry.Key[1], state[entry.Key[1]], who);
            count++;
        }
        BrokenPromiseException.Require(count == state.Take(keys).Count(stamp => stamp != 0) && count == tree.Count, $"{who} at transaction {id} finds {count} items.");
    }

    /// <exception cref="BrokenPromiseException">No tree was found although there is one.</exception>
    public void CheckEmpty(long id, string who) =>
        BrokenPromiseException.Require(StateOf(id).Take(keys).All(stamp => stamp == 0), $"{who} at transaction {id} finds no tree.");

    public static byte[] KeyOf(int key) => [(byte)'k', (byte)key];

    public static byte[] ValueOf(int key, int stamp)
    {
        var value = new byte[LengthOf(key, stamp)];
        value.AsSpan().Fill((byte)(stamp + key));
        BinaryPrimitives.WriteInt32LittleEndian(value, stamp);
        return value;
    }

    // Three or four values fit into a leaf, so a few keys make a branch. One key has values that take extents of pages; another has values large
    // enough to be written to the data file.
    private static int LengthOf(int key, int stamp) => (key % 16) switch
    {
        5 => 4_000 + (stamp % 7 * 1_500),
        11 => 17_000 + (stamp % 5 * 4_000),
        _ => 900 + (stamp % 4 * 60),
    };

    private sealed record Attached(int Stamp);
}
