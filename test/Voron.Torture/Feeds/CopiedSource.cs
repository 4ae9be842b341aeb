using System.Collections.Immutable;
using Voron.Feeds;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>The copy of one tree or table. Keys are as the model of tables has them.</summary>
internal sealed class CopiedSource
{
    private readonly SortedDictionary<string, CopiedValue> _entries = new(StringComparer.Ordinal);
    private readonly HashSet<string> _changed = new(StringComparer.Ordinal);

    // Expired rows, which may have been deleted before the recording began.
    private readonly HashSet<string> _perhaps = new(StringComparer.Ordinal);

    public required Recording Recording { get; init; }

    /// <summary>Begins with what the tree or the table has. The values of trees are not compared until they change.</summary>
    public void Take(ImmutableSortedSet<Model.ModelEntry>? entries, TableContent? rows)
    {
        foreach (var entry in entries ?? [])
            _entries.Add(ModelKey.Of(entry.Key), default);
        foreach (var row in rows?.Rows ?? [])
            _entries.Add(row.Primary, new CopiedValue { Row = row.Row });
        _perhaps.UnionWith((rows?.Expired ?? []).Select(row => row.Primary).Where(key => !_entries.ContainsKey(key)));
    }

    /// <summary>Checks that a change has the values that it is to have.</summary>
    public void CheckParts(Change change, int mostBytes)
    {
        var isPut = change.Operation is ChangeOperation.Put or ChangeOperation.Insert or ChangeOperation.Update;
        var isRemoval = change.Operation is ChangeOperation.Update or ChangeOperation.Delete;
        var isShort = change.Source.IsTable && mostBytes >= RowDrawer.MostBytes;
        Check(change, isShort, isPut && Recording.HasNew, change.HasNewValue, change.IsNewValueLeftOut);
        Check(change, isShort, isRemoval && Recording.HasOld, change.HasOldValue, change.IsOldValueLeftOut);
        if (change.NewValue.Length > mostBytes || change.OldValue.Length > mostBytes)
            throw new ModelMismatchException($"{change}: a value is longer than {mostBytes}");
    }

    /// <summary>Changes an entry.</summary>
    /// <param name="change">The change.</param>
    /// <param name="leastLeftOut">The least length of a value of a tree that may be left out.</param>
    /// <param name="readRow">Reads the row of a change.</param>
    public void Apply(Change change, int leastLeftOut, Func<Change, bool, TableRow> readRow)
    {
        var key = ModelKey.Of(change.Key);
        var isThere = _entries.TryGetValue(key, out var old);
        if (_perhaps.Remove(key) && change.Operation == ChangeOperation.Delete)
            return;
        var fits = change.Operation switch
        {
            ChangeOperation.Put => !change.Source.IsTable,
            ChangeOperation.Insert => change.Source.IsTable && !isThere,
            ChangeOperation.Update => change.Source.IsTable && isThere,
            ChangeOperation.Delete => isThere,
            _ => false,
        };
        if (!fits)
            throw new ModelMismatchException($"{change}: the entry is {(isThere ? "" : "not ")}there");
        _changed.Add(key);
        if (change.HasOldValue && old.Row != null && !readRow(change, true).HasSameFields(old.Row))
            throw new ModelMismatchException($"{change}: the old row is {readRow(change, true)} instead of {old.Row}");
        if (change.Operation == ChangeOperation.Delete)
        {
            _entries.Remove(key);
            return;
        }

        var row = change.Source.IsTable && change.HasNewValue ? readRow(change, false) : null;
        if (change.Operation == ChangeOperation.Update && row != null && old.Row?.HasSameFields(row) == true)
            throw new ModelMismatchException($"{change}: the row is the same as before");
        _entries[key] = new CopiedValue
        {
            Row = row,
            Bytes = !change.Source.IsTable && change.HasNewValue ? change.NewValue.ToArray() : null,
            LeastLength = change.IsNewValueLeftOut ? leastLeftOut : 0,
        };
    }

    public void DeleteRange(Change change)
    {
        var removed = new List<string>();
        foreach (var key in _entries.Keys)
        {
            if (change.Range.Contains(ModelKey.ToBytes(key)))
                removed.Add(key);
        }

        if (removed.Count == 0)
            throw new ModelMismatchException($"{change}: the range has removed nothing");
        foreach (var key in removed)
            _entries.Remove(key);
        _changed.UnionWith(removed);
    }

    /// <summary>Compares with a tree.</summary>
    /// <param name="source">The tree.</param>
    /// <param name="state">The model.</param>
    /// <param name="all">True for all entries, false for those that have changed since the last comparison.</param>
    public void Compare(FeedSource source, ModelState state, bool all)
    {
        CheckCount(source, state.Trees[source.Name].Count);
        foreach (var key in Keys(all))
        {
            var bytes = ModelKey.ToBytes(key);
            var isThere = state.TryGet(source.Name, bytes, out var entry);
            var isCopied = _entries.TryGetValue(key, out var value);
            if (isThere != isCopied)
                throw new ModelMismatchException($"the feed has left an entry of {source} {(isCopied ? "" : "not ")}there, which is wrong", bytes);
            if (value.Bytes != null && !entry.Value.SequenceEqual(value.Bytes))
                throw new ModelMismatchException($"the feed has left {value.Bytes.Length} wrong bytes in {source} instead of {entry.Length}", bytes);
            if (isThere && entry.Length < value.LeastLength)
                throw new ModelMismatchException($"the feed lacks a value of {entry.Length} bytes in {source}", bytes);
        }

        _changed.Clear();
    }

    /// <summary>Compares with a table. Expired rows exist until they are deleted.</summary>
    public void Compare(FeedSource source, TableContent content, bool all)
    {
        if (_entries.Count > content.Count + content.MostExpired)
            CheckCount(source, content.Count + content.MostExpired);
        if (content.MostExpired == 0)
            CheckCount(source, content.Count);
        foreach (var key in Keys(all))
        {
            var isCopied = _entries.TryGetValue(key, out var value);
            var row = content.Find(key)?.Row ?? (isCopied ? FindExpired(content, key, value.Row) : null);
            if (isCopied != (row != null))
                throw new ModelMismatchException($"the feed has left a row of {source} {(isCopied ? "" : "not ")}there", ModelKey.ToBytes(key));
            if (value.Row != null && !value.Row.HasSameFields(row!))
                throw new ModelMismatchException($"the feed has left the row {value.Row} in {source} instead of {row}", ModelKey.ToBytes(key));
        }

        _changed.Clear();
    }

    private static TableRow? FindExpired(TableContent content, string key, TableRow? copied) =>
        content.Expired.FirstOrDefault(expired => expired.Primary == key && copied?.HasSameFields(expired.Row) != false)?.Row;

    private static void Check(Change change, bool isShort, bool wanted, bool isThere, bool isLeftOut)
    {
        if (wanted != (isThere || isLeftOut) || (isThere && isLeftOut) || (isLeftOut && isShort))
            throw new ModelMismatchException($"{change}: a value is {(isThere ? "there" : isLeftOut ? "left out" : "missing")}, which is wrong");
    }

    private List<string> Keys(bool all) => [.. all ? _entries.Keys.Union(_changed) : _changed];

    private void CheckCount(FeedSource source, int count)
    {
        if (_entries.Count != count)
            throw new ModelMismatchException($"the feed has left {_entries.Count} entries in {source} instead of {count}");
    }

    /// <summary>What is known of a value.</summary>
    private readonly record struct CopiedValue
    {
        /// <summary>The value of a tree; null if it is not known.</summary>
        public byte[]? Bytes { get; init; }

        /// <summary>The row of a table; null if it is not known.</summary>
        public TableRow? Row { get; init; }

        /// <summary>If the feed was to have the value of a tree, and does not: the length that it has at least.</summary>
        public int LeastLength { get; init; }
    }
}
