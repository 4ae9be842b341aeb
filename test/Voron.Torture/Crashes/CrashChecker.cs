using Voron.Torture.Harness;
using Voron.Torture.Simulation;

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

/// <summary>Cuts the power, or kills the process, at points of a workload's trace, and looks at what can be recovered.</summary>
internal sealed class CrashChecker(Tape random, CrashCounts counts)
{
    private const int Depth = 3;

    private bool _garbage;

    public CrashDisk Disk { get; init; }

    // Garbage can be at few cuts only.
    private int ImagesOfCut => Disk == CrashDisk.Any ? 2 : 8;

    // One in so many images is worked on, and cut again.
    private int ContinueOneIn => Disk == CrashDisk.Any ? 5 : 20;

    /// <summary>One run: a workload on a new disk, then every cut of it; with garbage, those where it can be.</summary>
    public void Run(int steps)
    {
        counts.Runs++;
        var disk = new SimulatedDisk { ExtendableMaps = random.Next(3) > 0, MapsSeeUnbufferedWrites = random.Next(4) > 0 };
        var images = Disk == CrashDisk.GarbageWithImages || (Disk == CrashDisk.Any && random.Next(2) == 0);
        _garbage = Disk != CrashDisk.Any || (images && random.Next(2) == 0);
        var options = CrashWorkload.RandomOptions(random, images ? FlushRecordForm.WholeImages : FlushRecordForm.Checksums);
        using var workload = new CrashWorkload(disk, random, options, counts) { Overlaps = random.Next(2) == 0 };
        workload.Open([Content.Empty]);
        workload.Run(steps);
        if (random.Next(2) == 0)
            workload.Close();

        var cuts = new CutPoints(disk, workload.History, [Content.Empty]);
        for (var turn = 0; turn <= cuts.Count && random.HasMore; turn++)
        {
            random.Mark();
            var cut = random.Choose(turn, cuts.Count + 1);
            if (cut > 0 && disk.Trace(cut - 1).Kind == TraceKind.Mark)
                continue;
            if (Disk != CrashDisk.Any && !cuts.IsWritingData(cut))
                continue;
            counts.Cuts++;
            for (var i = 0; i < ImagesOfCut; i++)
                Examine(cuts, cut, workload.Options, level: 1, "");
        }
    }

    private void Examine(CutPoints cuts, int cut, StorageOptions options, int level, string path)
    {
        var kind = random.Next(Disk == CrashDisk.Any ? 0 : 3, 8);
        var imageSeed = random.Next();
        var image = kind switch
        {
            0 => Count(ref counts.Lost, cuts.Images.BuildLost(cut)),
            1 => Count(ref counts.Kept, cuts.Images.BuildKept(cut)),
            2 => Count(ref counts.Killed, cuts.Images.BuildKilled(cut)),
            3 => Count(ref counts.Killed, cuts.Images.BuildKilled(cut, new Random(imageSeed))),
            _ => Count(ref counts.Mixed, cuts.Images.Build(cut, new Random(imageSeed), _garbage ? cuts.DataFile : -1)),
        };
        var garbage = kind > 3 ? cuts.Images.GarbageSectors : 0;
        counts.WithGarbage += garbage > 0 ? 1 : 0;
        counts.GarbageSectors += garbage;
        var isKilled = kind is 2 or 3;
        counts.Images++;
        counts.SecondCuts += level == 2 ? 1 : 0;
        counts.ThirdCuts += level == 3 ? 1 : 0;
        counts.CutsWhileOpening += level > 1 && cut < cuts.Opened ? 1 : 0;
        var allowed = cuts.Allowed(cut);
        path += $" / cut {cut} of {cuts.Count}, {(kind switch { 0 => "lost", 1 => "kept", 2 or 3 => "killed", _ => "mixed" })}";
        try
        {
            if (Disk == CrashDisk.GarbageWithChecksums)
                LookOrBeRefused(image, allowed, options, garbage > 0);
            else if (level < Depth && random.Next(level == 1 ? ContinueOneIn : 3) == 0)
                GoOn(image, allowed, isKilled, options, level, path);
            else
                Look(image, allowed, options);
        }
        catch (CrashViolationException e) when (e.Data["path"] == null)
        {
            throw Located(e.Message, path, e);
        }
        catch (Exception e) when (e is not CrashViolationException)
        {
            throw Located($"{e.GetType().Name}: {e.Message}", path, e);
        }
    }

    private void Look(SimulatedDisk image, IReadOnlyList<Content> allowed, StorageOptions options)
    {
        // A read-only opening does not make an environment where none is yet.
        if (random.Next(3) > 0 || image.FileOf(Voron.Paging.CheckpointFile.FileName) < 0)
        {
            using var writable = StorageEnvironment.Open(image, options);
            ContentCheck.Check(writable, allowed);
            return;
        }

        counts.ReadOnly++;
        image.IsReadOnly = true;
        using var environment = StorageEnvironment.Open(image, new StorageOptions { ReadOnly = true });
        ContentCheck.Check(environment, allowed);
    }

    // At the opening: whatever can be opened is right.
    private void LookOrBeRefused(SimulatedDisk image, IReadOnlyList<Content> allowed, StorageOptions options, bool mayBeRefused)
    {
        StorageEnvironment environment;
        try
        {
            environment = StorageEnvironment.Open(image, options);
        }
        catch (CorruptionException) when (mayBeRefused)
        {
            counts.Refused++;
            return;
        }

        using (environment)
            ContentCheck.Check(environment, allowed);
    }

    // What a power cut has left is durable, so the next one must find the same; after a kill it may take what was not durable.
    private void GoOn(SimulatedDisk image, IReadOnlyList<Content> allowed, bool isKilled, StorageOptions options, int level, string path)
    {
        using var workload = new CrashWorkload(image, random, options, counts) { Overlaps = random.Next(3) == 0 };
        var found = workload.Open(allowed);
        workload.Run(random.Next(3, 11));
        if (random.Next(3) == 0)
            workload.Close();

        var cuts = new CutPoints(image, workload.History, isKilled ? allowed : [found]);
        for (var i = random.Next(2, 6); i > 0; i--)
        {
            var cut = random.Next(4) == 0 ? random.Next(cuts.Opened + 1) : random.Next(cuts.Count + 1);
            if (Disk != CrashDisk.Any && !cuts.IsWritingData(cut))
                continue;
            Examine(cuts, cut, options, level + 1, path);
        }
    }

    private static SimulatedDisk Count(ref int count, SimulatedDisk image)
    {
        count++;
        return image;
    }

    private static CrashViolationException Located(string message, string path, Exception inner)
    {
        var located = new CrashViolationException($"{message} At{path}.", inner);
        located.Data["path"] = path;
        return located;
    }
}

/// <summary>The cuts of a trace, with what may be found after each.</summary>
internal sealed class CutPoints
{
    private readonly SimulatedDisk _disk;
    private readonly List<Content> _history;
    private readonly IReadOnlyList<Content> _before;
    private readonly List<CrashMark?> _marks = [];

    /// <param name="history">What the marks count.</param>
    /// <param name="before">What may be found before the first mark, while the environment is being opened.</param>
    public CutPoints(SimulatedDisk disk, List<Content> history, IReadOnlyList<Content> before)
    {
        _disk = disk;
        _history = history;
        _before = before;
        Count = disk.TraceCount;
        Images = new CrashImages(disk);
        CrashMark? last = null;
        _marks.Add(null);
        for (var i = 0; i < Count; i++)
        {
            last = disk.Trace(i).Marker as CrashMark ?? last;
            _marks.Add(last);
            if (last == null)
                Opened = i + 1;
        }
    }

    public CrashImages Images { get; }

    /// <summary>The number that the trace has for the data file.</summary>
    public int DataFile => _disk.FileOf(EnvironmentCreator.DataFileName);

    /// <summary>True when pages of the data file are being written, by a flush or by a transaction with a large value.</summary>
    public bool IsWritingData(int cut) => Images.HasPendingBytes(cut, DataFile);

    /// <summary>The last cut.</summary>
    public int Count { get; }

    /// <summary>The last cut before the environment was open.</summary>
    public int Opened { get; }

    /// <summary>What may be found after a cut, oldest first.</summary>
    public IReadOnlyList<Content> Allowed(int cut)
    {
        var mark = _marks[cut];
        return mark == null ? _before : _history.GetRange(mark.Acknowledged, mark.Submitted - mark.Acknowledged + 1);
    }
}
