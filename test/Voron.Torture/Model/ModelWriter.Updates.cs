using System.Buffers;
using System.Buffers.Binary;

namespace Voron.Torture.Model;

/// <content>Ranges, changes that depend on the existing value, and values written piece by piece.</content>
internal sealed partial class ModelWriter
{
    private void Update(Handle handle, string name, bool grow)
    {
        var key = random.Next(4) > 0 ? _keys.AnyKey(State.Trees[name]) : _keys.NewKey();
        switch (random.Next(12))
        {
            case 0 or 1 or 2:
                DeleteRange(handle, name, grow);
                break;
            case 3 when !grow || random.Next(10) == 0:
                history.Add("clear", name);
                handle.Tree.Clear();
                State = State.DeleteRange(name, 0, State.Trees[name].Count);
                Require(handle.Tree.Count == 0, $"tree '{name}' has {handle.Tree.Count} entries after it was cleared");
                break;
            case 4:
                Remove(handle, name, key);
                break;
            case 5 or 6:
                Exchange(handle, name, key);
                break;
            case 7 or 8:
                Increment(handle, name, key);
                break;
            case 9:
                PutByWriter(handle, name, key);
                break;
            default:
                Replace(handle, name, key);
                break;
        }
    }

    private void DeleteRange(Handle handle, string name, bool grow)
    {
        var entries = State.Trees[name];
        if (random.Next(4) == 0)
        {
            var whole = _keys.AnyKey(entries);
            var prefix = whole[..random.Next(grow ? Math.Max(1, whole.Length - 2) : 1, whole.Length + 1)];
            var end = State.Rank(name, prefix, out _);
            var start = end;
            while (end < entries.Count && entries[end].Key.AsSpan().StartsWith(prefix))
                end++;
            DeleteRange(handle, name, KeyRange.Prefix(prefix), start, end);
            return;
        }

        // Mostly short ranges, so that the tree is not emptied each time.
        var from = _keys.AnyKey(entries);
        var first = State.Rank(name, from, out var isThere);
        var last = first + random.Next(entries.Count / (grow ? 50 : 4) + 3);
        var to = last < entries.Count ? entries[last].Key : _keys.AnyKey(entries);
        last = State.Rank(name, to, out var isLastThere);
        switch (random.Next(10))
        {
            case 0 when !grow:
                DeleteRange(handle, name, KeyRange.From(from), first, entries.Count);
                break;
            case 1 when !grow:
                DeleteRange(handle, name, KeyRange.Before(to), 0, last);
                break;
            case 2 or 3:
                DeleteRange(handle, name, KeyRange.After(from).Through(to), first + (isThere ? 1 : 0), last + (isLastThere ? 1 : 0));
                break;
            default:
                DeleteRange(handle, name, KeyRange.From(from).Before(to), first, last);
                break;
        }
    }

    private void DeleteRange(Handle handle, string name, KeyRange range, int from, int to)
    {
        history.Add($"delete range from entry {from} to {to}", name);
        var deleted = handle.Tree.DeleteRange(range);
        Require(deleted == Math.Max(0, to - from), $"deleting entries {from} to {to} of '{name}' returned {deleted}");
        State = State.DeleteRange(name, from, to);
        Require(handle.Tree.Count == State.Trees[name].Count, $"tree '{name}' counts {handle.Tree.Count} entries after a range was deleted");
    }

    private void Replace(Handle handle, string name, byte[] key)
    {
        var entry = Pad.Draw(random, key, _keys.ValueLength(key.Length));
        history.Add("replace", name, key, entry.Length);
        var found = State.TryGet(name, key, out var old);
        if (random.Next(2) == 0)
        {
            var buffer = new ArrayBufferWriter<byte>();
            Require(handle.Tree.Exchange(key, entry.Value, buffer) == found, $"replace in '{name}' is wrong about having the key", key);
            Require(!found || buffer.WrittenSpan.SequenceEqual(old.Value), $"replace in '{name}' returned another value", key);
        }
        else
        {
            var returned = handle.Tree.Exchange(key, entry.Value);
            Require(returned != null == found, $"replace in '{name}' is wrong about having the key", key);
            Require(!found || returned.AsSpan().SequenceEqual(old.Value), $"replace in '{name}' returned another value", key);
        }

        State = State.Put(name, entry);
    }

    private void Remove(Handle handle, string name, byte[] key)
    {
        history.Add("remove", name, key);
        var found = State.TryGet(name, key, out var old);
        var returned = handle.Tree.Remove(key);
        Require(returned != null == found, $"remove from '{name}' is wrong about having the key", key);
        Require(!found || returned.AsSpan().SequenceEqual(old.Value), $"remove from '{name}' returned another value", key);
        State = State.Delete(name, key);
    }

    private void Exchange(Handle handle, string name, byte[] key)
    {
        var entry = Pad.Draw(random, key, _keys.ValueLength(key.Length));
        var found = State.TryGet(name, key, out var old);
        var expected = random.Next(4) == 0 ? null : found ? old.Value.ToArray() : [];
        if (expected is { Length: > 0 } && random.Next(3) == 0)
            expected[random.Next(expected.Length)] ^= 1;
        var matches = found ? old.Value.SequenceEqual(expected) && expected != null : expected == null;
        history.Add("exchange", name, key, entry.Length);
        var exchanged = handle.Tree.CompareExchange(key, entry.Value, expected);
        Require(exchanged == matches, $"exchange in '{name}' returned {exchanged}", key);
        if (exchanged)
            State = State.Put(name, entry);
    }

    // Any value of eight bytes is a counter.
    private void Increment(Handle handle, string name, byte[] key)
    {
        var delta = random.Next(4) == 0 ? random.NextInt64() : random.Next(-3, 4);
        history.Add($"increment by {delta}", name, key);
        var found = State.TryGet(name, key, out var old);
        var waits = random.Next(2) == 0;
        if (found && old.Length != sizeof(long))
        {
            // One that waits would break the transaction.
            Fails<InvalidOperationException>(() => handle.Tree.Add(key, delta));
            return;
        }

        var count = found ? BinaryPrimitives.ReadInt64LittleEndian(old.Value) : 0;
        var sum = (Int128)count + delta;
        if (sum < long.MinValue || sum > long.MaxValue)
        {
            Fails<OverflowException>(() => handle.Tree.Add(key, delta));
            return;
        }

        if (waits)
            handle.Tree.Increment(key, delta);
        else
            Require(handle.Tree.Add(key, delta) == sum, $"the counter in '{name}' is not {sum}", key);
        State = State.Put(name, new ModelEntry(key, (long)sum));
    }

    private void PutByWriter(Handle handle, string name, byte[] key)
    {
        var entry = Pad.Draw(random, key, random.Next(20) == 0 ? random.Next(2 << 20) : _keys.ValueLength(key.Length));
        var completes = random.Next(4) > 0;
        history.Add(completes ? "write" : "write and discard", name, key, entry.Length);
        using var writer = handle.Tree.OpenWriter(key);
        for (var rest = entry.Value; !rest.IsEmpty;)
        {
            if (random.Next(4) == 0)
            {
                var piece = random.Next(rest.Length + 1);
                writer.Write(rest[..piece]);
                rest = rest[piece..];
                continue;
            }

            var room = writer.GetSpan(random.Next(3) == 0 ? 0 : random.Next(1, 100_000));
            var count = Math.Min(rest.Length, random.Next(room.Length + 1));
            rest[..count].CopyTo(room);
            writer.Advance(count);
            rest = rest[count..];
        }

        if (random.Next(4) == 0)
            Fails<InvalidOperationException>(() => transaction.CreateSavepoint());
        Require(writer.WrittenCount == entry.Length, $"the writer counts {writer.WrittenCount} of {entry.Length} bytes", key);
        if (!completes)
            return;
        writer.Complete();
        State = State.Put(name, entry);
    }
}
