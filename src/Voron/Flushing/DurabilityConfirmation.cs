using Voron.Journal;

namespace Voron.Flushing;

/// <summary>
/// Confirms the durability of an idle journal's tail. Without a durability marker after it, rot in the last record looks like a torn write.
/// </summary>
internal sealed class DurabilityConfirmation(JournalWriter journal)
{
    private long _confirmedSequence;
    private long _lastSequence;

    /// <summary>True while no record needs a marker.</summary>
    public bool IsConfirmed => journal.SubmittedSequence == _confirmedSequence;

    /// <summary>Notes that the records that recovery found need no marker.</summary>
    public void Begin() => _confirmedSequence = journal.SubmittedSequence;

    /// <summary>
    /// Writes a marker if nothing has been submitted since the last call, and the last record is not a marker yet. Waiting lazy records are left
    /// to their interval.
    /// </summary>
    public void ConfirmWhenIdle()
    {
        var sequence = journal.SubmittedSequence;
        if (sequence == _lastSequence && sequence != _confirmedSequence && !journal.HasEarlyRecords)
        {
            _lastSequence = _confirmedSequence = journal.ConfirmDurability();
            return;
        }

        _lastSequence = sequence;
    }
}
