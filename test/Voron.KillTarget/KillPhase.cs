namespace Voron.KillTarget;

/// <summary>What the process is doing, as it tells before it does it. Told as a negative number; commits as positive ones.</summary>
public enum KillPhase
{
    None,

    /// <summary>Opening, and recovering where there is something to recover.</summary>
    Opening,

    /// <summary>Committing small changes.</summary>
    Committing,

    /// <summary>Committing a large value, for which the data file grows.</summary>
    Growing,

    /// <summary>Committing without waiting, several at a time.</summary>
    Pipelining,

    /// <summary>Flushing.</summary>
    Flushing,

    /// <summary>Rewriting what an open reader keeps out of the data file.</summary>
    JournalSnapshot,

    /// <summary>Giving space back to the file system.</summary>
    Reclaiming,

    /// <summary>Closing.</summary>
    Closing,
}
