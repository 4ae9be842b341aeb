using Voron.Format;
using Voron.Tool.Dumps;

namespace Voron.Tool.Loading;

/// <summary>
/// Puts the entries of a dump into an environment: large plain trees by bulk loads, everything else in transactions of some megabytes. A plain tree
/// that is new or empty gets all of its entries in one commit.
/// </summary>
/// <param name="environment">The environment.</param>
/// <param name="dump">The dump, which has been checked.</param>
/// <param name="content">What it contains.</param>
/// <param name="treeOf">Returns the tree for an entry with this name of a tree, or without one.</param>
/// <param name="resumes">Whether existing keys are left as they are.</param>
/// <param name="options">The memory and the directory for sorting.</param>
internal sealed class LoadRun(
    StorageEnvironment environment, DumpFile dump, DumpContent content, Func<string?, string> treeOf, bool resumes, BulkLoadOptions options)
    : IProgress<BulkLoadProgress>
{
    // A plain tree of no more bytes shares a transaction with others, since a bulk load waits for the device several times.
    private const long BytesPerTransaction = 16 << 20;

    // Rows come in the order of their keys, and go to the places of their ids: each may change a page of its own.
    private const long BytesPerRow = 4096;

    private ToolProgress? _progress;

    /// <summary>The number of entries that were put and committed.</summary>
    public long Loaded { get; private set; }

    /// <summary>The number of existing entries.</summary>
    public long Left { get; private set; }

    /// <summary>Loads the dump, and returns <see cref="Loaded"/>.</summary>
    /// <exception cref="ToolException">The load was cancelled, or there is no room. What was committed stays.</exception>
    public async Task<long> RunAsync(ToolProgress progress, CancellationToken stop)
    {
        (_progress, options.Progress) = (progress, this);
        try
        {
            using var entries = dump.Read(stop).GetEnumerator();
            for (var hasNext = entries.MoveNext(); hasNext;)
            {
                Report(default);
                hasNext = IsLarge(entries.Current.Section)
                    ? await LoadAsync(entries, stop).ConfigureAwait(false)
                    : PutSome(entries);
            }

            return Loaded;
        }
        catch (Exception e) when (e is ToolException or ArgumentException)
        {
            throw new ToolException(Failures.CodeOf(e), $"{e.Message} {Loaded} entries were loaded.");
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            throw new ToolException(ExitCode.Cancelled, $"Cancelled. {Loaded} entries were loaded. Give --resume to continue later.");
        }
        catch (StorageFullException e)
        {
            throw new ToolException(ExitCode.NoRoom, $"{e.Message} {Loaded} entries were loaded. Give --resume to continue when there is room.");
        }
    }

    /// <inheritdoc/>
    public void Report(BulkLoadProgress value)
    {
        // Each entry counts twice: a bulk load first takes it, and then stores it.
        var steps = 2 * (Loaded + Left) + value.EntriesTaken + value.EntriesStored;
        _progress!.Show(steps, 2 * content.Entries);
    }

    private bool IsLarge(DumpSection section) => section.Kind == TreeKind.Plain && content.Sections[section].Bytes > BytesPerTransaction;

    // Loads the entries up to the next line that begins a tree or a table; false if there is none.
    private async Task<bool> LoadAsync(IEnumerator<DumpEntry> entries, CancellationToken stop)
    {
        var section = entries.Current.Section;
        var name = treeOf(section.Name);
        var before = Count(name);
        options.Sorted = content.Sections[section].IsSorted;
        options.Duplicates = resumes && before > 0 ? DuplicateKeys.FirstWins : DuplicateKeys.LastWins;
        try
        {
            using var load = await environment.BeginBulkLoadAsync(name, options, stop).ConfigureAwait(false);
            bool hasNext;
            do
            {
                if (entries.Current is { Key: { } key, Value: { } value })
                    load.Put(key, value);
                hasNext = entries.MoveNext();
            }
            while (hasNext && entries.Current.Value != null);
            var report = await load.CompleteAsync(stop).ConfigureAwait(false);
            Left += report.EntriesTaken - report.EntriesStored;
            return hasNext;
        }
        finally
        {
            // A tree that had entries keeps those that were committed before a failure.
            Loaded += Count(name) - before;
        }
    }

    private long Count(string name)
    {
        using var reading = environment.BeginRead();
        return reading.TryOpenTree(name, out var tree) ? tree.Count : 0;
    }

    // Puts entries in one transaction; false if there are no others.
    private bool PutSome(IEnumerator<DumpEntry> entries)
    {
        using var writing = environment.BeginWrite();
        var (put, left) = (0L, 0L);
        DumpSection? section = null;
        EntryTarget? target = null;
        var keeps = false;
        var hasNext = true;
        for (var bytes = 0L; hasNext && bytes < BytesPerTransaction; hasNext = entries.MoveNext())
        {
            var entry = entries.Current;
            if (target is null || section != entry.Section)
            {
                // A small tree is not divided.
                if (target != null && entry.Section.Kind == TreeKind.Plain && bytes + content.Sections[entry.Section].Bytes > BytesPerTransaction)
                    break;
                section = entry.Section;
                target = EntryTarget.Create(writing, section, treeOf(section.Name));

                // The dump's own repeated keys are not existing ones. A target of another kind may have them from the transaction before.
                keeps = resumes && !(section.Kind == TreeKind.Plain && target.IsEmpty);
            }

            if (entry.Value is null)
                continue;
            if (keeps && target.Has(entry))
            {
                left++;
                continue;
            }

            target.Put(entry);
            bytes += Math.Max(entry.Bytes, section.IsTable ? BytesPerRow : 0);
            put++;
        }

        writing.Commit();
        Loaded += put;
        Left += left;
        return hasNext;
    }
}
