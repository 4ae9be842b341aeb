using System.Diagnostics.CodeAnalysis;

namespace Voron.Torture.Crashes;

/// <content>Commits two of which are written at the same time, and end in either order.</content>
internal sealed partial class CrashWorkload
{
    // How long a faulty engine has to acknowledge the second commit, whose write has ended, before the first.
    private static readonly TimeSpan TimeOfMistake = TimeSpan.FromMilliseconds(3);

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    /// <summary>Lets pairs of commits be written at the same time.</summary>
    public bool Pairs { get; init; }

    // The second write begins while the first is held, unless the first continues with zeros, or the second record is of another file or names
    // values whose bytes are not durable.
    [SuppressMessage("Reliability", "CA2012", Justification = "Each is looked at until it has completed, and its result is taken once.")]
    private void CommitPair()
    {
        _run.Report("two commits written at the same time");
        var engine = _environment!.Internals.Engine;
        var journal = engine.Journal!;
        var secondEndsFirst = _random.Next(2) == 1;
        journal.OverlapsWrites = true;
        _pipeliningThread = Environment.CurrentManagedThreadId;
        _held.Arm();
        try
        {
            CommitBehind(mayBeLazy: false);
            _held.WaitUntilEntered();
            _heldSecond.Arm();
            CommitBehind(mayBeLazy: false);
            if (journal.WritesSecond())
            {
                _heldSecond.WaitUntilEntered(() => engine.Poison.IsPoisoned);
                _counts.Pairs++;
                if (!engine.Poison.IsPoisoned)
                    EndPair(secondEndsFirst);
            }
        }
        finally
        {
            _heldSecond.Release();
            _held.Release();
        }

        AwaitPipeline();
        _pipeliningThread = 0;
        journal.OverlapsWrites = false;
        var completed = _pipeline.ToArray();
        _pipeline.Clear();
        foreach (var (task, _) in completed)
            task.GetAwaiter().GetResult();
        Acknowledge();
        _readers.Check();
    }

    // Ends one of the two writes. Cuts behind it lose or keep the other one.
    private void EndPair(bool secondEndsFirst)
    {
        var (ending, kept) = secondEndsFirst ? (_heldSecond, 1) : (_held, 0);
        var entries = _disk.TraceCount;
        ending.Release();
        var hasEnded = SpinWait.SpinUntil(() => _disk.TraceCount != entries, LongestWait);
        var task = _pipeline[kept].Task;
        var isAnswered = SpinWait.SpinUntil(() => task.IsCompleted, secondEndsFirst ? TimeOfMistake : LongestWait);
        if (!hasEnded || !(isAnswered || secondEndsFirst))
            throw new CrashViolationException("A write, or a commit whose write has ended, did not end although nothing prevented it.");
        if (!task.IsCompletedSuccessfully)
            return;
        _acknowledged = _pipeline[kept].Pinned;
        Mark();
    }
}
