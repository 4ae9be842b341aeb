namespace Voron.FreeSpace;

/// <summary>Sections of a large file that have free pages, those with the most first, found without looking at all of them each time.</summary>
/// <remarks>
/// All sections are looked at once after opening, some at each call. From then on only a section in which pages have been freed can have
/// become worth taking, and those are put here by whoever frees. What is said of a section may be old: it is looked at when it is taken.
/// </remarks>
internal sealed class SectionQueue
{
    private const int SectionsAtOnce = 1024;

    private readonly PriorityQueue<long, int> _queue = new();
    private readonly HashSet<long> _queued = [];
    private readonly List<long> _taken = [];
    private long _examined;

    /// <summary>Notes that a section has free pages that it may not have had.</summary>
    public void Add(long section, int freePages)
    {
        if (freePages > 0 && _queued.Add(section))
            _queue.Enqueue(section, -freePages);
    }

    public void BeginTransaction() => _taken.Clear();

    /// <summary>After a rollback: what the transaction has taken is free again.</summary>
    public void Forget()
    {
        foreach (var section in _taken)
            Add(section, int.MaxValue);
        _taken.Clear();
    }

    /// <summary>The section with the most free pages of those known, if these are more than <paramref name="least"/>; else -1.</summary>
    /// <param name="freePages">How many pages a section has free now.</param>
    public long Take(long sections, int least, Func<long, int> freePages)
    {
        for (var end = Math.Min(sections, _examined + SectionsAtOnce); _examined < end; _examined++)
        {
            var free = freePages(_examined);
            if (free > least)
                Add(_examined, free);
        }

        while (_queue.TryDequeue(out var section, out var priority))
        {
            _queued.Remove(section);
            var free = section < sections ? freePages(section) : 0;
            if (free <= least)
                continue;
            if (-free <= priority || !_queue.TryPeek(out _, out var next) || -free <= next)
            {
                _taken.Add(section);
                return section;
            }

            Add(section, free);
        }

        return -1;
    }
}
