using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>Cuts the power, or kills the process, at points of a workload's trace, and checks the state that can be recovered.</summary>
/// <remarks>
/// Each step of a workload is followed at once by the cuts in it. The script of one failure is therefore the steps up to it and one cut of
/// the last step, counted from the beginning of that step: leaving out other steps does not move the cut.
/// </remarks>
internal sealed class CrashChecker(SuiteRun run, CrashCounts counts, CrashPlan plan)
{
    private const int MaxParts = 12;
    private const int RandomSubsets = 64;

    // The kinds of images that a cut may leave; see Examine.
    private const int Kinds = 8;
    private const int Killed = 2;
    private const int BrokenOff = 3;
    private const int Mixed = 4;
    private const int Combined = 7;

    private readonly Tape _choices = run.Choices;
    private StorageOptions _options = null!;
    private bool _spoilsData;
    private bool _spoilsOthers;
    private bool _reclaims;
    private int _combinationsLeft = plan.MaxCombinations;

    /// <summary>Performs one run: a workload on a new disk, with its cuts.</summary>
    public void Run()
    {
        counts.Runs++;
        var disk = new SimulatedDisk { ExtendableMaps = _choices.Next(3) < 2, MapsSeeUnbufferedWrites = _choices.Next(4) < 3 };
        var images = plan.Disk == CrashDisk.GarbageWithImages || (plan.Disk == CrashDisk.Any && _choices.Next(2) == 1);
        _spoilsData = plan.Disk != CrashDisk.Any || (images && _choices.Next(2) == 1);
        _spoilsOthers = _choices.Next(2) == 1;
        _reclaims = plan.Reclaims && _choices.Next(2) == 1;
        _options = CrashOptions.Choose(_choices, images ? TornPageProtection.FullPageImages : TornPageProtection.Checksums);
        if (plan.Upgrades)
            _options.FormatVersion = (int)JournalFormat.Version1;
        if (plan.Drops)
            _options.PagesOfDrop = 3;
        run.Report($"{_options.TornPageProtection}, {_options.JournalCompression}");
        WorkOn(disk, [Content.Empty], [Content.Empty], level: 0);
    }

    /// <param name="disk">The disk to work on.</param>
    /// <param name="found">The contents of which one must be found there.</param>
    /// <param name="before">The contents that a cut during the opening may leave; null for the content that was found.</param>
    /// <param name="level">The level of the plan.</param>
    private void WorkOn(SimulatedDisk disk, IReadOnlyList<Content> found, IReadOnlyList<Content>? before, int level)
    {
        var depth = plan.Levels[level];
        using var workload = new CrashWorkload(disk, run, _options, counts)
        {
            Overlaps = _choices.Next(2) == 1,
            Reclaims = _reclaims,
            Upgrades = plan.Upgrades,
            Drops = plan.Drops,
            Records = plan.Records,
            Lazies = plan.Lazies,
            Pairs = plan.Pairs,
            Loads = plan.Loads,
        };
        var content = workload.Open(found);
        var cuts = new CutPoints(disk, workload.History, before ?? [content]);
        Examine(cuts, depth.OpeningCuts, level);
        var steps = _choices.Next(depth.MinSteps, depth.MaxSteps + 1);
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < steps))
                break;
            workload.Step();
            Examine(cuts, Share(depth.RunningCuts, steps, isLast: i == steps - 1), level);
        }
        if (_choices.Next(2) == 0)
            return;
        run.Report("close");
        workload.Close();
        Examine(cuts, Share(depth.RunningCuts, steps, isLast: depth.RunningCuts > 1), level);
    }

    // Distributes the given number of cuts over all steps; the last step, which builds on the most work, always has one.
    private int Share(int cuts, int steps, bool isLast)
    {
        if (cuts == CrashLevel.All)
            return cuts;
        var chance = _choices.Next(Math.Max(1, steps));
        return (cuts > 0 && isLast) || chance >= steps - cuts ? 1 + (cuts / (steps + 1)) : 0;
    }

    private void Examine(CutPoints cuts, int wanted, int level)
    {
        var found = cuts.Advance();
        for (var turn = 0; ; turn++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(turn < Math.Min(wanted, found.Count) && !run.Stop.IsCancellationRequested))
                return;
            if (found.Count > 0)
            {
                var cut = found[wanted < found.Count ? _choices.Next(found.Count) : _choices.Choose(turn, found.Count)];
                if (plan.Disk == CrashDisk.Any || cuts.IsWritingData(cut))
                    ExamineCut(cuts, cut, level);
            }
            _choices.Forget(drawn);
        }
    }

    private void ExamineCut(CutPoints cuts, int cut, int level)
    {
        counts.Cuts++;
        var images = cuts.Images.PendingAt(cut) == 0 ? 1 : plan.ImagesPerCut;
        var sectorSize = 512;
        var combinations = 0;
        if (level == 0 && images > 1 && plan.EveryCombinationOneIn > 0 && _choices.Next(plan.EveryCombinationOneIn) == plan.EveryCombinationOneIn - 1)
        {
            sectorSize = _choices.Next(2) == 0 ? 512 : 4096;
            var parts = cuts.Images.PartsAt(cut, sectorSize, MaxParts);
            combinations = parts?.Combinations ?? RandomSubsets;
            if (combinations > _combinationsLeft)
            {
                combinations = 0;
                counts.CutsWithoutBudgetForCombinations++;
            }
            else if (parts is not null)
            {
                counts.CutsInEveryCombination++;
            }
            else
            {
                counts.CutsInManyCombinations++;
                sectorSize = 0;
            }
            _combinationsLeft -= combinations;
        }

        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < images + combinations))
                return;
            ExamineImage(cuts, cut, level, i >= combinations ? default : sectorSize == 0 ? Turn.RandomSubset : new Turn(Combined, sectorSize, i));
            _choices.Forget(drawn);
        }
    }

    /// <param name="cuts">The cuts of the disk.</param>
    /// <param name="cut">The position of the cut.</param>
    /// <param name="level">The level of that disk.</param>
    /// <param name="turn">The image to examine; the default leaves everything to chance.</param>
    private void ExamineImage(CutPoints cuts, int cut, int level, Turn turn)
    {
        var least = plan.KillsFirst && level == 0 ? Killed : plan.Disk == CrashDisk.Any ? 0 : BrokenOff;
        var count = plan.KillsFirst && level == 0 ? 2 : Kinds - least;
        var kind = least + (turn.Kind == 0 ? _choices.Next(count) : _choices.Choose(turn.Kind - least, count));
        var image = Make(cuts, cut, kind, turn, out var garbage);
        var isKilled = kind is Killed or BrokenOff;
        Count(level, garbage, cuts.IsOpening(cut));
        var allowed = cuts.Allowed(cut);
        var path = $"cut at {cuts.Describe(cut)}, {Name(kind)}";
        run.Report(path);
        var oneIn = level + 1 < plan.Levels.Count ? plan.Levels[level].GoOnOneIn : 0;
        try
        {
            if (plan.Disk == CrashDisk.GarbageWithChecksums)
                LookOrBeRefused(image, allowed, garbage > 0 && cuts.Images.HasLost(cuts.DataFile));
            else if (oneIn > 0 && _choices.Next(oneIn) == oneIn - 1)
                GoOn(image, allowed, isKilled, level + 1);
            else
                Examine(image, allowed);
        }
        catch (Exception e) when (e is not TapeRunOutException)
        {
            var message = e is CrashViolationException ? e.Message : $"{e.GetType().Name}: {e.Message}";
            throw new CrashViolationException($"{message} / {path}", e is CrashViolationException { InnerException: { } inner } ? inner : e);
        }
    }

    private SimulatedDisk Make(CutPoints cuts, int cut, int kind, Turn turn, out int garbage)
    {
        garbage = 0;
        switch (kind)
        {
            case 0:
                counts.Lost++;
                return cuts.Images.BuildLost(cut);
            case 1:
                counts.Kept++;
                return cuts.Images.BuildKept(cut);
            case Killed:
                counts.Killed++;
                return cuts.Images.BuildKilled(cut);
            case BrokenOff:
                counts.Killed++;
                return cuts.Images.BuildKilled(cut, new Random(_choices.Next()));
            case Combined:
                var size = _choices.Choose(turn.SectorSize == 4096 ? 1 : 0, 2) == 1 ? 4096 : 512;
                if (cuts.Images.PartsAt(cut, size, MaxParts) is not { } parts)
                    break;
                counts.Combinations++;
                var combinations = parts.Combinations;
                var combination = turn.SectorSize == 0 ? _choices.Next(combinations) : _choices.Choose(turn.Combination, combinations);
                return cuts.Images.BuildCombination(cut, parts, combination);
        }

        counts.Mixed++;
        var dataFile = cuts.DataFile;
        var image = cuts.Images.Build(cut, new Random(_choices.Next()), file => file == dataFile ? _spoilsData : _spoilsOthers);
        garbage = cuts.Images.GarbageSectors;
        return image;
    }

    private static string Name(int kind) => kind switch
    {
        0 => "lost",
        1 => "kept",
        Killed or BrokenOff => "killed",
        Combined => "combination",
        _ => "mixed",
    };

    private void Count(int level, int garbage, bool isOpening)
    {
        counts.Images++;
        counts.WithGarbage += garbage > 0 ? 1 : 0;
        counts.GarbageSectors += garbage;
        counts.SecondCuts += level == 1 ? 1 : 0;
        counts.ThirdCuts += level == 2 ? 1 : 0;
        counts.FourthCuts += level == 3 ? 1 : 0;
        counts.CutsWhileOpening += level > 0 && isOpening ? 1 : 0;
    }

    private void Examine(SimulatedDisk image, IReadOnlyList<Content> allowed)
    {
        // A read-only opening does not create an environment where there is none yet.
        if (_choices.Next(3) < 2 || image.FileOf(Voron.Paging.HeaderFile.FileName) < 0)
        {
            using var writable = StorageEnvironment.Open(image, _options);
            var found = ContentCheck.Check(writable, allowed);
            if (plan.Drops && CrashWorkload.FreeDropped(writable))
            {
                counts.DropsResumed++;
                ContentCheck.Check(writable, [found]);
            }

            return;
        }

        counts.ReadOnly++;
        image.IsReadOnly = true;
        using var environment = StorageEnvironment.Open(image, new StorageOptions { ReadOnly = true });
        ContentCheck.Check(environment, allowed);
    }

    // Every environment that can be opened must be right. Garbage in the journal, in the header and in space that had not been written is a
    // possible outcome of a power cut on a good disk, and the engine has to recover from it.
    private void LookOrBeRefused(SimulatedDisk image, IReadOnlyList<Content> allowed, bool mayBeRefused)
    {
        counts.GarbageInUse += mayBeRefused ? 1 : 0;
        StorageEnvironment environment;
        try
        {
            environment = StorageEnvironment.Open(image, _options);
        }
        catch (CorruptionException) when (mayBeRefused)
        {
            counts.Refused++;
            return;
        }

        using (environment)
            ContentCheck.Check(environment, allowed);
    }

    // The state after a power cut is durable, so the next opening must find the same; after a kill, a cut may still lose writes that were
    // not durable.
    private void GoOn(SimulatedDisk image, IReadOnlyList<Content> allowed, bool isKilled, int level)
    {
        counts.WorkedOn++;
        run.Report("continue");
        WorkOn(image, allowed, isKilled ? allowed : null, level);
    }

    /// <summary>An image that is not left to chance.</summary>
    /// <param name="Kind">The kind of image that the cut leaves; 0 for any.</param>
    /// <param name="SectorSize">The sector size of a combination.</param>
    /// <param name="Combination">The number of the combination.</param>
    private readonly record struct Turn(int Kind, int SectorSize, int Combination)
    {
        /// <summary>Keeps or loses each sector that was being written independently, by chance.</summary>
        public static Turn RandomSubset => new(Mixed, 0, 0);
    }
}
