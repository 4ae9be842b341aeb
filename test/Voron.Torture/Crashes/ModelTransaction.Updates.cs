using System.Text;

namespace Voron.Torture.Crashes;

/// <content>Ranges, changes that depend on the existing value, and values written piece by piece.</content>
internal sealed partial class ModelTransaction
{
    private void Update(string name)
    {
        var tree = writing.CreateTree(name);
        Content = Content.With(name, Entries(name));
        switch (random.Next(8))
        {
            case 0:
                Replace(tree, name, SmallKey());
                break;
            case 1:
                Exchange(tree, name, SmallKey());
                break;
            case 2:
                Increment(tree, name, $"count{random.Next(3)}");
                break;
            case 3:
                PutByWriter(tree, name, LargeKey());
                break;
            case 4 when random.Next(4) == 0:
                tree.Clear();
                Content = Content.With(name, Content.EmptyTree);
                break;
            default:
                DeleteRange(tree, name);
                break;
        }
    }

    private void DeleteRange(WriteTree tree, string name)
    {
        var (from, to) = random.Next(4) switch
        {
            0 => ("a", Key(random.Next(90))),
            1 => (Key(random.Next(90)), "z"),
            2 => ("large", "over3"),
            _ => (Key(random.Next(90)), Key(random.Next(90))),
        };
        var deleted = Entries(name).Keys.Where(key => string.CompareOrdinal(key, from) >= 0 && string.CompareOrdinal(key, to) < 0).ToList();
        var count = tree.DeleteRange(KeyRange.From(Encoding.ASCII.GetBytes(from)).Before(Encoding.ASCII.GetBytes(to)));
        Content = Content.With(name, Entries(name).RemoveRange(deleted));
        Require(count == deleted.Count && tree.Count == Entries(name).Count, $"deleting {from} to {to} in {name} returned {count}, not {deleted.Count}");
    }

    private void Replace(WriteTree tree, string name, string key)
    {
        var value = new ModelValue(random.Next(), random.Next(3000));
        var expected = Entries(name).GetValueOrDefault(key)?.ToBytes();
        var old = tree.Exchange(Encoding.ASCII.GetBytes(key), value.ToBytes());
        Require(expected == null ? old == null : old.AsSpan().SequenceEqual(expected), $"replacing {name}/{key} returned another value");
        Content = Content.With(name, Entries(name).SetItem(key, value));
    }

    private void Exchange(WriteTree tree, string name, string key)
    {
        var value = new ModelValue(random.Next(), random.Next(3000));
        var current = Entries(name).GetValueOrDefault(key)?.ToBytes();
        var expected = random.Next(2) == 0 ? current : [1];
        var matches = current == null ? expected == null : current.AsSpan().SequenceEqual(expected);
        var exchanged = tree.CompareExchange(Encoding.ASCII.GetBytes(key), value.ToBytes(), expected);
        Require(exchanged == matches, $"exchanging {name}/{key} returned {exchanged}");
        if (exchanged)
            Content = Content.With(name, Entries(name).SetItem(key, value));
    }

    private void Increment(WriteTree tree, string name, string key)
    {
        var delta = random.Next(7) - 3;
        var sum = (Entries(name).GetValueOrDefault(key)?.Counter ?? 0) + delta;
        if (random.Next(2) == 0)
            tree.Increment(Encoding.ASCII.GetBytes(key), delta);
        else
            Require(tree.Add(Encoding.ASCII.GetBytes(key), delta) == sum, $"the counter {name}/{key} is not {sum}");
        Content = Content.With(name, Entries(name).SetItem(key, new ModelValue(0, sizeof(long)) { Counter = sum }));
    }

    private void PutByWriter(WriteTree tree, string name, string key)
    {
        var value = new ModelValue(random.Next(), random.Next(4) == 0 ? random.Next(300_000, 400_000) : LargeLength());
        using var writer = tree.OpenWriter(Encoding.ASCII.GetBytes(key));
        writer.Write(value.ToBytes());
        if (random.Next(4) == 3)
            return;
        writer.Complete();
        Content = Content.With(name, Entries(name).SetItem(key, value));
    }

    private static void Require(bool holds, string violation)
    {
        if (!holds)
            throw new CrashViolationException($"In a transaction, {violation}.");
    }
}
