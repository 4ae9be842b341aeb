using Voron.Feeds;
using Voron.Tables;
using Voron.Torture.Recorded;

namespace Voron.Torture.Crashes;

internal enum RecordedChangeKind
{
    PutEntries,
    DeleteEntries,
    DeleteEntryRange,
    UpsertRows,
    InsertRows,
    DeleteRows,

    /// <summary>Keeps the newest position of the feed under the name of a consumer, which holds the feed back.</summary>
    SetPosition,
    RemoveConsumer,
    Read,
}

/// <summary>A change of a <see cref="RecordedStore"/>: drawn in advance, and made in a transaction and in its model.</summary>
/// <param name="Kind">What is done.</param>
/// <param name="First">The first key.</param>
/// <param name="Count">The number of keys in a row.</param>
/// <param name="Number">The number of the first key; those of the next ones are one higher each.</param>
internal readonly record struct RecordedChange(RecordedChangeKind Kind, int First, int Count, int Number)
{
    private const int Keys = 160;
    private const int MostTogether = 60;

    // Small enough that some trims cut a feed.
    private const long MaxFeedBytes = 24 << 10;

    public static RecordedChange Draw(Random random)
    {
        var (key, number) = (random.Next(Keys), 1 + random.Next(int.MaxValue - Keys));
        return random.Next(20) switch
        {
            < 3 => new RecordedChange(RecordedChangeKind.PutEntries, key, 1, number),
            3 => new RecordedChange(RecordedChangeKind.PutEntries, key, random.Next(1, MostTogether), number),
            4 or 5 => new RecordedChange(RecordedChangeKind.DeleteEntries, key, random.Next(1, 5), 0),
            6 => new RecordedChange(RecordedChangeKind.DeleteEntryRange, key, random.Next(1, MostTogether), 0),
            < 12 => new RecordedChange(RecordedChangeKind.UpsertRows, key, random.Next(1, 4), number),
            12 => new RecordedChange(RecordedChangeKind.UpsertRows, key, random.Next(1, MostTogether), number),
            13 => new RecordedChange(RecordedChangeKind.InsertRows, key, random.Next(1, MostTogether), number),
            < 17 => new RecordedChange(RecordedChangeKind.DeleteRows, key, random.Next(1, 8), 0),
            17 => new RecordedChange(RecordedChangeKind.SetPosition, 0, 0, 0),
            18 => new RecordedChange(RecordedChangeKind.RemoveConsumer, 0, 0, 0),
            _ => new RecordedChange(RecordedChangeKind.Read, key, random.Next(1, 8), 0),
        };
    }

    /// <summary>Makes the change in a transaction.</summary>
    /// <param name="writing">The transaction.</param>
    /// <param name="before">What the store has before.</param>
    /// <param name="maxFeedBytes">The size above which a trim cuts the feed.</param>
    /// <exception cref="CrashViolationException">The store is wrong about what it has.</exception>
    public void ApplyTo(WriteTransaction writing, RecordedData before, long maxFeedBytes = MaxFeedBytes)
    {
        var tree = RecordedStore.Create(writing, maxFeedBytes);
        switch (Kind)
        {
            case RecordedChangeKind.DeleteEntryRange:
                var removed = tree.DeleteRange(KeyRange.From(RecordedStore.KeyOf(First)).Before(RecordedStore.KeyOf(First + Count)));
                Require(removed == before.Entries.Count - ApplyTo(before).Entries.Count, $"says that {removed} entries are gone");
                break;
            case RecordedChangeKind.SetPosition:
                writing.SetPosition(RecordedStore.Feed, RecordedStore.Consumer, writing.GetNewestPosition(RecordedStore.Feed));
                break;
            case RecordedChangeKind.RemoveConsumer:
                writing.RemoveConsumer(RecordedStore.Feed, RecordedStore.Consumer);
                break;
            default:
                for (var i = 0; i < Count; i++)
                    Apply(writing, tree, before, First + i, Number + i);
                break;
        }
    }

    private void Apply(WriteTransaction writing, WriteTree tree, RecordedData before, int key, int number)
    {
        switch (Kind)
        {
            case RecordedChangeKind.PutEntries:
                tree.Put(RecordedStore.KeyOf(key), RecordedRow.ValueOf(number));
                break;
            case RecordedChangeKind.DeleteEntries:
                Require(tree.Delete(RecordedStore.KeyOf(key)) == before.Entries.ContainsKey(key), $"is wrong about having had entry {key}");
                break;
            case RecordedChangeKind.UpsertRows:
                RecordedStore.Upsert(writing, new RecordedRow(key, number));
                break;
            case RecordedChangeKind.InsertRows:
                Insert(writing, new RecordedRow(key, number), before.Rows.ContainsKey(key));
                break;
            case RecordedChangeKind.DeleteRows:
                Require(RecordedStore.Delete(writing, key) == before.Rows.ContainsKey(key), $"is wrong about having had row {key}");
                break;
            default:
                RecordedRow row;
                var isThere = key % 2 == 0
                    ? writing.OpenTable(RecordedStore.Rows).TryGet(key, out row)
                    : writing.OpenTable(RecordedStore.Numbered).TryGet(key, out row);
                var isKnown = before.Rows.TryGetValue(key, out var known);
                Require(isThere == isKnown && (!isThere || row.Number == known), $"has {(isThere ? row : "no row")} under {key}");
                break;
        }
    }

    private void Insert(WriteTransaction writing, RecordedRow row, bool isThere)
    {
        try
        {
            if (row.Key % 2 == 0)
                writing.OpenTable(RecordedStore.Rows).Insert(row);
            else
                writing.OpenTable(RecordedStore.Numbered).Insert(row);
        }
        catch (DuplicateKeyException) when (isThere)
        {
            return;
        }

        Require(!isThere, $"has taken {row} beside another one");
    }

    /// <summary>Returns the content after the change.</summary>
    public RecordedData ApplyTo(RecordedData content)
    {
        var (first, number) = (First, Number);
        var keys = Enumerable.Range(First, Count);
        return Kind switch
        {
            RecordedChangeKind.PutEntries => content.WithEntries(content.Entries.SetItems(keys.Select(With))),
            RecordedChangeKind.DeleteEntries or RecordedChangeKind.DeleteEntryRange => content.WithEntries(content.Entries.RemoveRange(keys)),
            RecordedChangeKind.UpsertRows => content.WithRows(content.Rows.SetItems(keys.Select(With))),
            RecordedChangeKind.InsertRows => content.WithRows(content.Rows.AddRange(keys.Where(key => !content.Rows.ContainsKey(key)).Select(With))),
            RecordedChangeKind.DeleteRows => content.WithRows(content.Rows.RemoveRange(keys)),
            _ => content,
        };

        KeyValuePair<int, int> With(int key) => KeyValuePair.Create(key, number + key - first);
    }

    private void Require(bool holds, string violation)
    {
        if (!holds)
            throw new CrashViolationException($"{this}: the store {violation}.");
    }
}
