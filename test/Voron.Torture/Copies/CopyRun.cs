using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Copies;

/// <summary>Runs one workload, and combines copies of its files from any two moments in any way.</summary>
/// <remarks>
/// An environment that opens has to hold one of the committed states, complete and sound: that of either moment if all journal files are
/// from one moment, otherwise any state before the later moment, since nothing reveals that the newest journal file is missing. With journal
/// files of the later moment and a data file of the earlier one, any state from the earlier moment on is right: the data file lacks what was
/// synced beside the last records, which then count as torn. All other combinations must be refused.
/// </remarks>
internal sealed class CopyRun(SuiteRun run)
{
    private const int Pairs = 5;
    private const int MaxMixtures = 40;
    private const int NearEntries = 30;

    private const string Header = Voron.Paging.HeaderFile.FileName;
    private const string Data = DataFile.FileName;

    private readonly Tape _choices = run.Choices;
    private StorageOptions _options = null!;
    private CutPoints _cuts = null!;
    private IReadOnlyList<Content> _history = null!;

    public void Run()
    {
        var disk = new SimulatedDisk { ExtendableMaps = _choices.Next(3) < 2, MapsSeeUnbufferedWrites = _choices.Next(4) < 3 };
        var form = _choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages;
        _options = CrashOptions.Choose(_choices, form);
        using var workload = new CrashWorkload(disk, run, _options, new CrashCounts())
        {
            Overlaps = _choices.Next(2) == 1,
            Reclaims = _choices.Next(4) == 3,
            Records = run.Index % 4 == 3,
        };
        var content = workload.Open([Content.Empty]);
        var first = disk.TraceCount;
        var steps = _choices.Next(6, 20);
        for (var i = 0; ; i++)
        {
            _choices.Mark();
            if (!_choices.GoesOn(i < steps))
                break;
            workload.Step();
        }

        if (_choices.Next(3) == 2)
            workload.Close();
        _history = workload.History;
        _cuts = new CutPoints(disk, workload.History, [content]);
        _cuts.Advance();
        var stamped = Enumerable.Range(first, disk.TraceCount - first).Where(i => IsStamp(disk, i)).ToArray();
        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < Pairs && !run.Stop.IsCancellationRequested))
                return;
            var older = _choices.Next(first, disk.TraceCount + 1);
            var rest = disk.TraceCount - older;
            var newer = older + _choices.Next((_choices.Next(2) == 0 ? Math.Min(rest, NearEntries) : rest) + 1);
            if (_choices.Next(4) == 3 && stamped.Length > 1)
            {
                // Both within flushes: the stamp that ties one data file to its header must not be accepted for the other file.
                var one = _choices.Next(stamped.Length - 1);
                older = stamped[one] + 1 + _choices.Next(4);
                newer = Math.Max(older, Math.Min(disk.TraceCount, stamped[_choices.Next(one + 1, stamped.Length)] + 1 + _choices.Next(4)));
            }
            Examine(older, newer);
            _choices.Forget(drawn);
        }
    }

    private void Examine(int older, int newer)
    {
        var a = FilesAt(older);
        var b = FilesAt(newer);
        var pair = new Pair(older, newer, a, b);
        var names = pair.Names;
        Open(a, _cuts.Allowed(older), $"all of {older}", mayBeRefused: false);
        Open(b, _cuts.Allowed(newer), $"all of {newer}", mayBeRefused: false);

        var subsets = 1 << Math.Min(names.Length, 30);
        var mixtures = names.Length <= 5 ? subsets : MaxMixtures;
        for (var i = 0; ; i++)
        {
            var drawn = _choices.Drawn.Count;
            _choices.Mark();
            if (!_choices.GoesOn(i < 2 * mixtures))
                break;
            var parts = i < mixtures && mixtures == subsets ? _choices.Choose(i, subsets) : _choices.Next(subsets);
            var left = i < mixtures ? 0 : _choices.Next(subsets) & _choices.Next(subsets);
            Mix(pair, parts, left);
            _choices.Forget(drawn);
        }

        CopyWhileRunning(older, newer);
        CopyInOrder(older, newer);
    }

    private void Mix(Pair pair, long ofNewer, long left)
    {
        var (older, newer, a, b) = pair;
        var names = pair.Names;
        var set = a.With(b, names.Where((_, i) => (ofNewer >> i & 1) != 0));
        foreach (var name in names.Where((_, i) => (left >> i & 1) != 0))
            set.Remove(name);

        // A set without any of these files begins a new environment.
        if (!set.Names.Any(name => name == Header || name == Data || IsJournal(name)))
            return;
        var journals = names.Where(IsJournal).ToArray();

        // A header that was written at a close needs nothing from the journal, and journal files that were begun later are missing here.
        var mayLackNewest = !Same(set, a, Header) && IsOfClose(set);
        var isWhole = Array.TrueForAll(journals, name => Same(set, b, name))
            || (!mayLackNewest && Array.TrueForAll(journals, name => Same(set, a, name)));
        IReadOnlyList<Content> ofEither = Same(set, b, Data) ? [.. _cuts.Allowed(older), .. _cuts.Allowed(newer)] : Between(older, newer);
        Open(
            set, isWhole ? ofEither : Before(newer),
            $"of {newer} [{string.Join(' ', names.Where((_, i) => (ofNewer >> i & 1) != 0))}], of {older} the others, " +
            $"without [{string.Join(' ', names.Where((_, i) => (left >> i & 1) != 0))}]");
    }

    // Copies each file whole, in any order, while the environment continues.
    private void CopyWhileRunning(int older, int newer)
    {
        var set = new FileSet();
        var cut = older;
        var names = FilesAt(older).Names.ToArray();
        _choices.Shuffle(names);
        for (var i = 0; i < names.Length; i++)
        {
            cut = _choices.Next(cut, newer + 1);
            var now = FilesAt(cut);
            if (now.Contains(names[i]))
                set[names[i]] = now[names[i]];
        }

        if (set.Names.Count > 0)
            Open(set, Before(newer), $"copied one by one between {older} and {newer}: {string.Join(' ', names)}");
    }

    // Copies the header, then the data file, then everything else: the data file may even change while it is copied in this order.
    private void CopyInOrder(int older, int newer)
    {
        var set = new FileSet { [Header] = FilesAt(older)[Header] };
        var data = new BlockContent();
        var cut = older;
        var now = FilesAt(cut)[Data];
        var length = now.Length / BlockContent.BlockSize;
        for (var block = 0L; block < length; block++)
        {
            if (_choices.Next(8) == 7)
            {
                cut = _choices.Next(cut, newer + 1);
                now = FilesAt(cut)[Data];
                length = now.Length / BlockContent.BlockSize;
            }

            if (now.BlockAt(block) is { } bytes)
                data.SetBlock(block, bytes);
        }

        data.Length = length * BlockContent.BlockSize;
        set[Data] = data;
        var end = FilesAt(newer);
        set = set.With(end, end.Names.Where(name => name is not (Header or Data)));
        Open(set, Before(newer), $"header of {older}, data file from then to {cut}, the others of {newer}");
    }

    private void Open(FileSet files, IReadOnlyList<Content> allowed, string what, bool mayBeRefused = true)
    {
        run.Count();
        var disk = files.ToDisk(_choices.Next(1, 100));
        StorageEnvironment? environment = null;
        try
        {
            environment = StorageEnvironment.Open(disk, _options);
            ContentCheck.Check(environment, allowed);
            run.Tally(mayBeRefused ? "opened" : "opened whole");
        }
        catch (VoronException) when (mayBeRefused)
        {
            run.Tally(environment == null ? "refused" : "refused when read");
        }
        catch (Exception e) when (e is not TapeRunOutException)
        {
            run.Report(what);
            throw new CrashViolationException($"{(e is CrashViolationException ? "" : e.GetType().Name + ": ")}{e.Message} / {what}", e);
        }
        finally
        {
            environment?.Dispose();
        }
    }

    private FileSet FilesAt(int cut) => FileSet.Of(_cuts.Images.BuildKilled(cut));

    private List<Content> Before(int cut)
    {
        var newest = _cuts.Allowed(cut)[^1];
        return [.. _history.TakeWhile(content => !ReferenceEquals(content, newest)), newest];
    }

    private List<Content> Between(int older, int newer)
    {
        var oldest = _cuts.Allowed(older)[0];
        return [.. Before(newer).SkipWhile(content => !ReferenceEquals(content, oldest))];
    }

    private static bool IsOfClose(FileSet set)
    {
        if (!set.Contains(Header))
            return false;
        var newest = Enumerable.Range(0, 2)
            .Select(slot => MemoryMarshal.Read<CheckpointHeader>(set[Header].BlockAt(slot) ?? BlockContent.ZeroBlock))
            .MaxBy(slot => slot.CheckpointNumber);
        return (newest.Flags & CheckpointFlags.ClosedCleanly) != 0;
    }

    private static bool IsStamp(SimulatedDisk disk, int i) =>
        disk.Trace(i) is { Kind: TraceKind.Write, Offset: DataFileStamp.Offset, Length: DataFileStamp.Size } entry && disk.NameOf(entry) == Data;

    private static bool Same(FileSet set, FileSet other, string name) =>
        set.Contains(name) == other.Contains(name) && (!set.Contains(name) || ReferenceEquals(set[name], other[name]));

    private static bool IsJournal(string name) => name.StartsWith(Voron.Journal.JournalFile.NamePrefix, StringComparison.Ordinal);

    /// <summary>The files at two moments between which a copy is made.</summary>
    /// <param name="Older">The number of calls in the trace at the earlier moment.</param>
    /// <param name="Newer">The number of calls in the trace at the later moment.</param>
    /// <param name="A">The files at the earlier moment.</param>
    /// <param name="B">The files at the later moment.</param>
    private sealed record Pair(int Older, int Newer, FileSet A, FileSet B)
    {
        /// <summary>The names of all files of either moment.</summary>
        public string[] Names { get; } = [.. A.Names.Union(B.Names)];
    }
}
