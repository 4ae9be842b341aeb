namespace Voron.Torture.Crashes;

/// <summary>The damage that a power cut may do to the data file, and the engine's protection against it.</summary>
internal enum CrashDisk
{
    /// <summary>The damage that the design allows; and, in some of the runs with images, garbage too.</summary>
    Any,

    /// <summary>Garbage where a flush was writing, with images: everything is repaired.</summary>
    GarbageWithImages,

    /// <summary>The same with checksums only: damage that cannot be repaired is refused.</summary>
    GarbageWithChecksums,
}

/// <summary>The amount of work on a disk before it is given up, and the number of its cuts.</summary>
/// <param name="MinSteps">The least number of steps of the workload after the opening.</param>
/// <param name="MaxSteps">The largest number of steps.</param>
/// <param name="OpeningCuts">The number of cuts of the opening; <see cref="All"/> for every one.</param>
/// <param name="RunningCuts">The number of cuts of all steps together; <see cref="All"/> for every one.</param>
/// <param name="GoOnOneIn">One in this many images is worked on, at the next level, rather than only checked; 0 for none.</param>
internal sealed record CrashLevel(int MinSteps, int MaxSteps, int OpeningCuts, int RunningCuts, int GoOnOneIn)
{
    public const int All = int.MaxValue;
}

/// <summary>The crashes of a suite: first during a workload on a new disk, then during work on the surviving state, and so on.</summary>
/// <param name="Levels">The levels; the first belongs to the new disk.</param>
internal sealed record CrashPlan(params IReadOnlyList<CrashLevel> Levels)
{
    public CrashDisk Disk { get; init; }

    /// <summary>The number of random images of each cut that has anything to lose.</summary>
    public int ImagesPerCut { get; init; } = 2;

    /// <summary>True if the first level kills the process and the power stays on.</summary>
    public bool KillsFirst { get; init; }

    /// <summary>True if large parts of the file become free in some of the runs, and are returned.</summary>
    public bool Reclaims { get; init; }

    /// <summary>True if trees are dropped in steps.</summary>
    public bool Drops { get; init; }

    /// <summary>True if tables, and a tree, are changed that a feed records.</summary>
    public bool Records { get; init; }

    /// <summary>True if some commits are acknowledged before they are durable.</summary>
    public bool Lazies { get; init; }

    /// <summary>True if some pairs of commits are written at the same time.</summary>
    public bool Pairs { get; init; }

    /// <summary>True if trees are loaded in bulk.</summary>
    public bool Loads { get; init; }

    /// <summary>
    /// True if the environment is created in the oldest version of the format, and becomes one of the newest in the course of the work.
    /// </summary>
    public bool Upgrades { get; init; }

    /// <summary>
    /// One in this many cuts of the first level is examined in every combination of writes that it may lose or keep if there are few enough
    /// combinations, otherwise in many random ones; 0 for none.
    /// </summary>
    public int EveryCombinationOneIn { get; init; }

    /// <summary>The largest number of such images in a run.</summary>
    public int MaxCombinations { get; init; } = 1024;
}
