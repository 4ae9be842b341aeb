using Voron.Tool.Dumps;

namespace Voron.Tool.Loading;

/// <summary>Puts the entries of a dump into an environment, in transactions of some megabytes.</summary>
/// <param name="environment">The environment.</param>
/// <param name="dump">The dump, which has been checked.</param>
/// <param name="treeOf">Returns the tree for an entry with this name of a tree, or without one.</param>
/// <param name="resumes">Whether existing keys are left as they are.</param>
internal sealed class LoadRun(StorageEnvironment environment, DumpFile dump, Func<string?, string> treeOf, bool resumes)
{
    private const long BytesPerTransaction = 16 << 20;

    // Rows come in the order of their keys, and go to the places of their ids: each may change a page of its own.
    private const long BytesPerRow = 4096;

    /// <summary>The number of entries that were put and committed.</summary>
    public long Loaded { get; private set; }

    /// <summary>The number of existing entries.</summary>
    public long Left { get; private set; }

    /// <exception cref="ToolException">The load was cancelled, or there is no room. What was committed stays.</exception>
    public void Run(CancellationToken stop)
    {
        try
        {
            using var entries = dump.Read(stop).GetEnumerator();
            for (var hasNext = entries.MoveNext(); hasNext;)
            {
                using var writing = environment.BeginWrite();
                var put = Fill(writing, entries, ref hasNext);
                writing.Commit();
                Loaded += put;
            }
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

    private long Fill(WriteTransaction writing, IEnumerator<DumpEntry> entries, ref bool hasNext)
    {
        var put = 0L;
        DumpSection? section = null;
        EntryTarget? target = null;
        for (var bytes = 0L; hasNext && bytes < BytesPerTransaction; hasNext = entries.MoveNext())
        {
            var entry = entries.Current;
            if (target is null || section != entry.Section)
            {
                section = entry.Section;
                target = EntryTarget.Create(writing, section, treeOf(section.Name));
            }

            if (entry.Value is null)
                continue;
            if (resumes && target.Has(entry))
            {
                Left++;
                continue;
            }

            target.Put(entry);
            bytes += Math.Max((entry.Key?.Length ?? sizeof(long)) + entry.Value.Length, section.IsTable ? BytesPerRow : 0);
            put++;
        }

        return put;
    }
}
