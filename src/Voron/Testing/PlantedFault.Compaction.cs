namespace Voron.Testing;

/// <content>The faults of compactions.</content>
internal static partial class PlantedFault
{
    /// <summary>A large value that was copied is put at its key even if the key has another value by then.</summary>
    public static readonly bool MoveByPosition = Is(nameof(MoveByPosition));

    /// <summary>When a leaf moves, its parent keeps the old number.</summary>
    public static readonly bool KeepOldChild = Is(nameof(KeepOldChild));

    /// <summary>A page that a compaction takes is not marked as used.</summary>
    public static readonly bool ReserveUntaken = Is(nameof(ReserveUntaken));

    /// <summary>The file is cut before the checkpoint with the lower page count is durable.</summary>
    public static readonly bool CutBeforeFlush = Is(nameof(CutBeforeFlush));

    /// <summary>A large value keeps the checksums of its old place when it moves.</summary>
    public static readonly bool KeepChunkSums = Is(nameof(KeepChunkSums));

    /// <summary>
    /// A group of sections that is cut off remains in the directory, although it is created a second time when the file grows again.
    /// </summary>
    public static readonly bool KeepGroup = Is(nameof(KeepGroup));

    /// <summary>A copy in key order commits after each tree.</summary>
    public static readonly bool CommitEachTree = Is(nameof(CommitEachTree));
}
