using System.Buffers.Binary;
using Voron.Torture.Harness;

namespace Voron.Torture.SlowIo;

/// <summary>How a reader looks at everything.</summary>
internal enum SlowReading
{
    Cursor,
    Range,
    Streams,
    Batch,
}

/// <summary>What was written, one key a transaction, and what the callers were told of it.</summary>
internal sealed class SlowLedger
{
    private const string TreeName = "items";

    private enum Outcome
    {
        Unknown,
        Acknowledged,
        Refused,
    }

    private readonly Lock _gate = new();
    private readonly Dictionary<int, (Outcome Outcome, int Length)> _keys = [];

    public int Acknowledged
    {
        get
        {
            lock (_gate)
                return _keys.Values.Count(key => key.Outcome == Outcome.Acknowledged);
        }
    }

    /// <summary>What has been acknowledged by now: each cut of the power from here on has to leave it.</summary>
    public IReadOnlyList<int> AcknowledgedKeys
    {
        get
        {
            lock (_gate)
                return [.. _keys.Where(key => key.Value.Outcome == Outcome.Acknowledged).Select(key => key.Key)];
        }
    }

    /// <summary>Begins a transaction's entry; its outcome is unknown until it is told.</summary>
    public int Add(int length)
    {
        lock (_gate)
        {
            int key = _keys.Count;
            _keys.Add(key, (Outcome.Unknown, length));
            return key;
        }
    }

    public void Put(WriteTransaction writing, int key) => writing.CreateTree(TreeName).Put(Key(key), Value(key));

    /// <summary>The same by a stream that gives a little at a time.</summary>
    public void PutStream(WriteTransaction writing, int key)
    {
        using var stream = new MemoryStream(Value(key));
        writing.CreateTree(TreeName).PutAsync(Key(key), stream).AsTask().GetAwaiter().GetResult();
    }

    /// <summary>Makes a transaction and keeps what it was told.</summary>
    /// <exception cref="BrokenPromiseException">It failed in a way that nobody is told of.</exception>
    public void Commit(int key, Action commit)
    {
        try
        {
            commit();
            Tell(key, Outcome.Acknowledged);
        }
        catch (EnvironmentPoisonedException e)
        {
            Tell(key, e.Outcome == CommitOutcome.NotCommitted ? Outcome.Refused : Outcome.Unknown);
        }
        catch (Exception e) when (e is ObjectDisposedException or StorageFullException or StorageAccessException or TimeoutException)
        {
            Tell(key, Outcome.Refused);
        }
    }

    /// <summary>The transaction was taken back by its caller.</summary>
    public void Refuse(int key) => Tell(key, Outcome.Refused);

    /// <exception cref="BrokenPromiseException">Something acknowledged is not there, or something refused is.</exception>
    public void Check(StorageEnvironment environment, string when)
    {
        using ReadTransaction reading = environment.BeginRead();
        bool hasTree = reading.TryOpenTree(TreeName, out Tree tree);
        lock (_gate)
        {
            foreach ((int key, (Outcome outcome, int _)) in _keys)
            {
                ReadOnlySpan<byte> value = default;
                bool isThere = hasTree && tree.TryGet(Key(key), out value);
                BrokenPromiseException.Require(isThere || outcome != Outcome.Acknowledged, $"{when}: key {key} was acknowledged, and is not there.");
                BrokenPromiseException.Require(!isThere || outcome != Outcome.Refused, $"{when}: key {key} was said not to be committed, and is there.");
                BrokenPromiseException.Require(!isThere || value.SequenceEqual(Value(key)), $"{when}: key {key} has another value.");
            }
        }
        VerificationReport report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"{when}: {report}");
    }

    /// <summary>Reads all that a snapshot has, in one of several ways.</summary>
    /// <exception cref="BrokenPromiseException">A value is not the one that was put.</exception>
    public void Read(ReadTransaction reading, SlowReading how)
    {
        if (!reading.TryOpenTree(TreeName, out Tree tree))
            return;
        switch (how)
        {
            case SlowReading.Cursor:
                using (Cursor cursor = tree.OpenCursor())
                {
                    for (bool found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                        CheckValue(cursor.Key, cursor.Value);
                }
                break;
            case SlowReading.Range:
                foreach (TreeEntry entry in tree.GetEntries())
                    CheckValue(entry.Key, entry.Value);
                break;
            case SlowReading.Streams:
                ReadStreams(tree);
                break;
            default:
                ReadBatch(tree);
                break;
        }
    }

    /// <exception cref="BrokenPromiseException">Something of these is not there.</exception>
    public void CheckHas(StorageEnvironment environment, IReadOnlyList<int> keys, string when)
    {
        using ReadTransaction reading = environment.BeginRead();
        bool hasTree = reading.TryOpenTree(TreeName, out Tree tree);
        foreach (int key in keys)
        {
            ReadOnlySpan<byte> value = default;
            bool isThere = hasTree && tree.TryGet(Key(key), out value);
            BrokenPromiseException.Require(isThere, $"{when}: key {key} was acknowledged, and is not there.");
            BrokenPromiseException.Require(value.SequenceEqual(Value(key)), $"{when}: key {key} has another value.");
        }
        VerificationReport report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"{when}: {report}");
    }

    private void ReadStreams(Tree tree)
    {
        foreach (int key in Keys())
        {
            if (!tree.TryOpenStream(Key(key), out Stream? stream))
                continue;
            using var all = new MemoryStream();
            stream!.CopyTo(all);
            stream.Dispose();
            CheckValue(Key(key), all.ToArray());
        }
    }

    private void ReadBatch(Tree tree)
    {
        var batch = new LookupBatch();
        foreach (int key in Keys())
            batch.Add(Key(key));
        tree.GetMany(batch);
        for (int i = 0; i < batch.Count; i++)
        {
            if (batch.TryGetValue(i, out ReadOnlySpan<byte> value))
                CheckValue(batch.Key(i), value);
        }
    }

    private void CheckValue(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => BrokenPromiseException.Require(
        value.SequenceEqual(Value(BinaryPrimitives.ReadInt32BigEndian(key))), $"A reader finds another value of key {Convert.ToHexString(key)}.");

    private int[] Keys()
    {
        lock (_gate)
            return [.. _keys.Keys];
    }

    private void Tell(int key, Outcome outcome)
    {
        lock (_gate)
            _keys[key] = (outcome, _keys[key].Length);
    }

    private byte[] Value(int key)
    {
        int length;
        lock (_gate)
            length = _keys[key].Length;
        byte[] value = new byte[length];
        new Random(key).NextBytes(value);
        return value;
    }

    private static byte[] Key(int key)
    {
        byte[] bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, key);
        return bytes;
    }
}
