namespace Voron.KillTarget;

/// <summary>
/// The phase that the process reports before it begins it. Phases are reported as negative numbers, commits as positive ones.
/// </summary>
public enum KillPhase
{
    None,

    /// <summary>Opening, with recovery if there is anything to recover.</summary>
    Opening,

    /// <summary>Committing small changes.</summary>
    Committing,

    /// <summary>Committing a large value, for which the data file grows.</summary>
    Growing,

    /// <summary>Committing without waiting, several at a time.</summary>
    Pipelining,

    /// <summary>Flushing.</summary>
    Flushing,

    /// <summary>Writing a journal snapshot of the changes that an open reader keeps out of the data file.</summary>
    JournalSnapshot,

    /// <summary>Returning space to the file system.</summary>
    Reclaiming,

    /// <summary>Dropping a tree in steps, with commits beside it.</summary>
    Dropping,

    /// <summary>Closing.</summary>
    Closing,
}
