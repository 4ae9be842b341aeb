namespace Voron.Torture.Crashes;

/// <summary>What a power cut may leave in the data file, and what the engine does against it.</summary>
internal enum CrashDisk
{
    /// <summary>What the design allows; and, in some of the runs with images, garbage too.</summary>
    Any,

    /// <summary>Garbage where a flush was writing, with images: all is repaired.</summary>
    GarbageWithImages,

    /// <summary>The same with checksums only: what cannot be repaired is refused.</summary>
    GarbageWithChecksums,
}

/// <summary>How much is done on a disk before it is given up, and how often it is cut.</summary>
/// <param name="MinSteps">Steps of the workload behind the opening, at least.</param>
/// <param name="MaxSteps">At most.</param>
/// <param name="OpeningCuts">Cuts of the opening; <see cref="All"/> for every one.</param>
/// <param name="RunningCuts">Cuts of all steps together; <see cref="All"/> for every one.</param>
/// <param name="GoOnOneIn">One in so many of the images is worked on, at the next level, rather than looked at; 0 for none.</param>
internal sealed record CrashLevel(int MinSteps, int MaxSteps, int OpeningCuts, int RunningCuts, int GoOnOneIn)
{
    public const int All = int.MaxValue;
}

/// <summary>What a suite does with crashes: first a workload on a new disk, then on what was left of it, and so on.</summary>
/// <param name="Levels">The first is the new disk's.</param>
internal sealed record CrashPlan(params IReadOnlyList<CrashLevel> Levels)
{
    public CrashDisk Disk { get; init; }

    /// <summary>Random images of each cut that has anything to lose.</summary>
    public int ImagesPerCut { get; init; } = 2;

    /// <summary>At the first level the process is killed, and the power stays.</summary>
    public bool KillsFirst { get; init; }

    /// <summary>In some of the runs large parts of the file become free, and are given back.</summary>
    public bool Reclaims { get; init; }

    /// <summary>
    /// One in so many cuts of the first level is looked at in every combination of what it may lose or keep, when there are few
    /// enough, else in many random ones; 0 for none.
    /// </summary>
    public int EveryCombinationOneIn { get; init; }

    /// <summary>Images of that kind in a run, at most.</summary>
    public int MaxCombinations { get; init; } = 1024;
}
