using Voron.Feeds;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>Copies of the trees and tables that a feed records, made of nothing but its changes.</summary>
/// <param name="feed">The name of the feed.</param>
/// <param name="streamedBytes">The length from which on values may be written past the journal, so that the feed does not have them.</param>
/// <param name="readRow">Reads the row of a change as it is after the change, or as it was before.</param>
internal sealed class FeedCopy(string feed, int streamedBytes, Func<Change, bool, TableRow> readRow)
{
    private readonly Dictionary<FeedSource, CopiedSource> _sources = [];

    /// <summary>Begins with what the model has.</summary>
    public void Take(ModelState state)
    {
        foreach (var source in state.Feeds!.SourcesOf(feed))
        {
            var copy = new CopiedSource { Recording = state.Feeds.Recorded[source] };
            copy.Take(source.IsTable ? null : state.Trees[source.Name], source.IsTable ? state.Feeds.Tables[source.Name] : null);
            _sources.Add(source, copy);
        }
    }

    /// <summary>Makes a change.</summary>
    /// <param name="change">The change.</param>
    /// <param name="begun">The recordings that its transaction has begun and that were not seen yet.</param>
    /// <param name="mostBytes">The length up to which the feed has values.</param>
    public void Apply(Change change, Queue<BegunRecording> begun, int mostBytes)
    {
        var source = change.Source;
        if (change.Operation == ChangeOperation.SourceAdded)
        {
            if (!begun.TryDequeue(out var next) || next.Source != source)
                throw new ModelMismatchException($"{change}: the next recording that was begun is {next?.Source.ToString() ?? "none"}");
            var added = new CopiedSource { Recording = next.Recording };
            added.Take(next.Entries, next.Rows);
            if (!_sources.TryAdd(source, added))
                throw new ModelMismatchException($"{change}: it is recorded already");
            return;
        }

        if (!_sources.TryGetValue(source, out var copy))
            throw new ModelMismatchException($"{change}: the source is not recorded");
        copy.CheckParts(change, mostBytes);
        switch (change.Operation)
        {
            case ChangeOperation.SourceDeleted or ChangeOperation.SourceRemoved:
                _sources.Remove(source);
                break;
            case ChangeOperation.SourceRenamed:
                _sources.Remove(source);
                if (!_sources.TryAdd(source with { Name = change.NewName! }, copy))
                    throw new ModelMismatchException($"{change}: the new name '{change.NewName}' is recorded already");
                break;
            case ChangeOperation.DeleteRange when !source.IsTable:
                copy.DeleteRange(change);
                break;
            default:
                copy.Apply(change, Math.Min(mostBytes + 1, streamedBytes), readRow);
                break;
        }
    }

    /// <summary>Compares the copies with the model.</summary>
    /// <param name="state">The state at the end of a transaction.</param>
    /// <param name="all">True for all entries, false for those that have changed since the last comparison.</param>
    public void Compare(ModelState state, bool all)
    {
        var recorded = state.Feeds!.SourcesOf(feed).ToHashSet();
        if (!recorded.SetEquals(_sources.Keys))
            throw new ModelMismatchException($"'{feed}' records {string.Join(", ", _sources.Keys)} instead of {string.Join(", ", recorded)}");
        foreach (var (source, copy) in _sources)
        {
            if (state.Feeds.Recorded[source] != copy.Recording)
                throw new ModelMismatchException($"the {source} is recorded as {copy.Recording} instead of {state.Feeds.Recorded[source]}");
            if (source.IsTable)
                copy.Compare(source, state.Feeds.Tables[source.Name], all);
            else
                copy.Compare(source, state, all);
        }
    }
}
