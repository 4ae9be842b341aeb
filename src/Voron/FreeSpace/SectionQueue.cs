namespace Voron.FreeSpace;

/// <summary>The sections of a large file that contain free pages, those with the most first, found without scanning all sections each time.</summary>
/// <remarks>
/// All sections are examined once after opening, some at each call. From then on, only a section in which pages have been freed can have
/// become worth taking, and the code that frees them adds it here. An entry may be out of date: its section is examined again when it is
/// taken.
/// </remarks>
internal sealed class SectionQueue
{
    private const int SectionsAtOnce = 1024;

    private readonly PriorityQueue<long, int> _queue = new();
    private readonly HashSet<long> _queued = [];
    private readonly List<long> _taken = [];
    private long _examined;

    /// <summary>Notes that a section has free pages that it might not have had before.</summary>
    public void Add(long section, int freePages)
    {
        if (freePages > 0 && _queued.Add(section))
            _queue.Enqueue(section, -freePages);
    }

    public void BeginTransaction() => _taken.Clear();

    /// <summary>Notes a rollback: pages taken by the transaction are free again.</summary>
    public void Forget()
    {
        foreach (var section in _taken)
            Add(section, int.MaxValue);
        _taken.Clear();
    }

    /// <summary>Notes that all sections from one on must be examined again, because they are no longer withheld.</summary>
    public void ExamineFrom(long section) => _examined = Math.Min(_examined, section);

    /// <summary>Returns the known section with the most free pages, if it has more than <paramref name="least"/>; otherwise -1.</summary>
    /// <param name="freePages">Returns the number of pages that are free in a section now.</param>
    public long Take(long sections, int least, Func<long, int> freePages)
    {
        ExamineSome(sections, least, freePages);
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

    /// <summary>Examines the next sections that have not been examined; returns false when there is none left.</summary>
    public bool ExamineSome(long sections, int least, Func<long, int> freePages)
    {
        for (var end = Math.Min(sections, _examined + SectionsAtOnce); _examined < end; _examined++)
        {
            var free = freePages(_examined);
            if (free > least)
                Add(_examined, free);
        }

        return _examined < sections;
    }
}
