using Voron.Primitives;

namespace Voron.Journal;

/// <summary>
/// Commits that changed nothing and wait for the record of the data they read, ordered by its sequence. They have no record themselves.
/// </summary>
/// <remarks>Used under the lock of the journal's queue. The list is linked through the completions, so adding needs no memory.</remarks>
internal struct UnchangedCommits
{
    private CommitCompletion? _first;
    private CommitCompletion? _last;

    /// <summary>True if no commit waits; without the lock, this may be out of date.</summary>
    public readonly bool IsEmpty => Volatile.Read(in _first) == null;

    public void Add(CommitCompletion completion)
    {
        if (_last == null || _last.Sequence <= completion.Sequence)
        {
            Insert(completion, _last);
            return;
        }

        // This thread is late: others read something newer, and were faster.
        CommitCompletion? before = null;
        for (var next = _first; next != null && next.Sequence <= completion.Sequence; next = (CommitCompletion?)next.Next)
            before = next;
        Insert(completion, before);
    }

    /// <summary>
    /// Removes the commits that wait for a sequence up to this one, and returns them as a separate list, linked by
    /// <see cref="RelayedCompletion.Next"/>.
    /// </summary>
    public CommitCompletion? TakeUpTo(long sequence)
    {
        if (_first == null || _first.Sequence > sequence)
            return null;
        var taken = _first;
        var last = taken;
        while (last.Next is CommitCompletion next && next.Sequence <= sequence)
            last = next;
        _first = (CommitCompletion?)last.Next;
        if (_first == null)
            _last = null;
        last.Next = null;
        return taken;
    }

    /// <summary>Completes the commits of a list that wait for a sequence up to this one; returns the rest.</summary>
    public static CommitCompletion? Complete(CommitCompletion? list, long sequence)
    {
        while (list != null && list.Sequence <= sequence)
        {
            // It may be in another list as soon as it is complete.
            var next = (CommitCompletion?)list.Next;
            list.Next = null;
            list.SetResult();
            list = next;
        }

        return list;
    }

    private void Insert(CommitCompletion completion, CommitCompletion? before)
    {
        completion.Next = before == null ? _first : before.Next;
        if (before == null)
            _first = completion;
        else
            before.Next = completion;
        if (completion.Next == null)
            _last = completion;
    }
}
