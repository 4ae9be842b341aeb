using System.Buffers.Binary;
using Voron.Simulation.Harness;

namespace Voron.Torture.SlowIo;

/// <summary>The ways in which a reader reads everything.</summary>
internal enum SlowReading
{
    Cursor,
    Range,
    Streams,
    Batch,
}

/// <summary>The written keys, one a transaction, and the outcomes that the callers were given.</summary>
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

    /// <summary>The keys that have been acknowledged by now: each power cut from here on has to preserve them.</summary>
    public IReadOnlyList<int> AcknowledgedKeys
    {
        get
        {
            lock (_gate)
                return [.. _keys.Where(key => key.Value.Outcome == Outcome.Acknowledged).Select(key => key.Key)];
        }
    }

    /// <summary>Begins a transaction's entry; its outcome is unknown until it is reported.</summary>
    public int Add(int length)
    {
        lock (_gate)
        {
            var key = _keys.Count;
            _keys.Add(key, (Outcome.Unknown, length));
            return key;
        }
    }

    public void Put(WriteTransaction writing, int key) => writing.CreateTree(TreeName).Put(Key(key), Value(key));

    /// <summary>Does the same by a stream that returns a little at a time.</summary>
    public void PutStream(WriteTransaction writing, int key)
    {
        using var stream = new MemoryStream(Value(key));
        writing.CreateTree(TreeName).PutAsync(Key(key), stream).AsTask().GetAwaiter().GetResult();
    }

    /// <summary>Uploads the value of a key.</summary>
    public StagedValue Stage(StorageEnvironment environment, int key)
    {
        using var stream = new MemoryStream(Value(key));
        return environment.StageAsync(System.IO.Pipelines.PipeReader.Create(stream)).AsTask().GetAwaiter().GetResult();
    }

    /// <summary>Puts the uploaded value of a key.</summary>
    public static void Put(WriteTransaction writing, int key, StagedValue staged) => writing.CreateTree(TreeName).Put(Key(key), staged);

    /// <summary>Runs a transaction and records its outcome.</summary>
    /// <exception cref="BrokenPromiseException">The transaction failed in an undocumented way.</exception>
    public void Commit(int key, Action commit)
    {
        try
        {
            commit();
            SetOutcome(key, Outcome.Acknowledged);
        }
        catch (EnvironmentPoisonedException e)
        {
            SetOutcome(key, e.Outcome == CommitOutcome.NotCommitted ? Outcome.Refused : Outcome.Unknown);
        }
        catch (Exception e) when (e is ObjectDisposedException or StorageFullException or StorageAccessException or TimeoutException)
        {
            SetOutcome(key, Outcome.Refused);
        }
    }

    /// <summary>Records that the caller rolled the transaction back.</summary>
    public void Refuse(int key) => SetOutcome(key, Outcome.Refused);

    /// <exception cref="BrokenPromiseException">An acknowledged key is missing, or a refused one is present.</exception>
    public void Check(StorageEnvironment environment, string when)
    {
        using var reading = environment.BeginRead();
        var hasTree = reading.TryOpenTree(TreeName, out var tree);
        lock (_gate)
        {
            foreach ((var key, (var outcome, var _)) in _keys)
            {
                scoped ReadOnlySpan<byte> value = default;
                var isThere = hasTree && tree.TryGet(Key(key), out value);
                BrokenPromiseException.Require(isThere || outcome != Outcome.Acknowledged, $"{when}: key {key} was acknowledged, and is missing.");
                BrokenPromiseException.Require(!isThere || outcome != Outcome.Refused, $"{when}: key {key} was reported as not committed, and is present.");
                BrokenPromiseException.Require(!isThere || value.SequenceEqual(Value(key)), $"{when}: key {key} has another value.");
            }
        }
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"{when}: {report}");
    }

    /// <summary>Reads the whole content of a snapshot, in one of several ways.</summary>
    /// <exception cref="BrokenPromiseException">A value differs from the one that was put.</exception>
    public void Read(ReadTransaction reading, SlowReading how)
    {
        if (!reading.TryOpenTree(TreeName, out var tree))
            return;
        switch (how)
        {
            case SlowReading.Cursor:
                using (var cursor = tree.OpenCursor())
                {
                    for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                        CheckValue(cursor.Key, cursor.Value);
                }
                break;
            case SlowReading.Range:
                foreach (var entry in tree.GetEntries())
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

    /// <exception cref="BrokenPromiseException">One of these keys is missing.</exception>
    public void CheckHas(StorageEnvironment environment, IReadOnlyList<int> keys, string when)
    {
        using var reading = environment.BeginRead();
        var hasTree = reading.TryOpenTree(TreeName, out var tree);
        foreach (var key in keys)
        {
            scoped ReadOnlySpan<byte> value = default;
            var isThere = hasTree && tree.TryGet(Key(key), out value);
            BrokenPromiseException.Require(isThere, $"{when}: key {key} was acknowledged, and is missing.");
            BrokenPromiseException.Require(value.SequenceEqual(Value(key)), $"{when}: key {key} has another value.");
        }
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"{when}: {report}");
    }

    private void ReadStreams(Tree tree)
    {
        foreach (var key in Keys())
        {
            if (!tree.TryOpenStream(Key(key), out var stream))
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
        foreach (var key in Keys())
            batch.Add(Key(key));
        tree.GetMany(batch);
        for (var i = 0; i < batch.Count; i++)
        {
            if (batch.TryGetValue(i, out var value))
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

    private void SetOutcome(int key, Outcome outcome)
    {
        lock (_gate)
            _keys[key] = (outcome, _keys[key].Length);
    }

    private byte[] Value(int key)
    {
        int length;
        lock (_gate)
            length = _keys[key].Length;
        return SeededBytes.Make(key, length);
    }

    private static byte[] Key(int key)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, key);
        return bytes;
    }
}
