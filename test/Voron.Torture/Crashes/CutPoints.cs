using Voron.Torture.Simulation;

namespace Voron.Torture.Crashes;

/// <summary>The cuts of a trace, as it grows, with what may be found after each.</summary>
/// <param name="disk">Whose trace.</param>
/// <param name="history">What the marks count.</param>
/// <param name="before">What may be found before the first mark, while the environment is being opened.</param>
internal sealed class CutPoints(SimulatedDisk disk, List<Content> history, IReadOnlyList<Content> before)
{
    // The last mark before each cut, or null.
    private readonly List<CrashMark?> _marks = [];
    private int _next;

    public CrashImages Images { get; } = new(disk);

    /// <summary>The number that the trace has for the data file.</summary>
    public int DataFile => disk.FileOf(Paging.DataFile.FileName);

    /// <summary>True when pages of the data file are being written, by a flush or by a transaction with a large value.</summary>
    public bool IsWritingData(int cut) => Images.HasPendingBytes(cut, DataFile);

    /// <summary>True before the environment was open.</summary>
    public bool IsOpening(int cut) => _marks[cut] is null;

    /// <summary>
    /// The cuts that have come since the last call. Of those between which nothing is done to the disk, there is one.
    /// </summary>
    public IReadOnlyList<int> Advance()
    {
        int count = disk.TraceCount;
        if (_marks.Count == 0)
            _marks.Add(null);
        for (int i = _marks.Count - 1; i < count; i++)
            _marks.Add(disk.Trace(i).Marker as CrashMark ?? _marks[^1]);
        if (_next <= count)
            Images.StartAt(_next);
        var cuts = new List<int>();
        for (; _next <= count; _next++)
        {
            if (_next == 0 || disk.Trace(_next - 1).Kind != TraceKind.Mark)
                cuts.Add(_next);
        }
        return cuts;
    }

    /// <summary>
    /// What may be found after a cut, oldest first. Marks that follow with nothing between them stand for the same disk: it must
    /// be right for each of them.
    /// </summary>
    public IReadOnlyList<Content> Allowed(int cut)
    {
        var mark = _marks[cut];
        for (int next = cut; next + 1 < _marks.Count && disk.Trace(next).Marker is CrashMark later; next++)
        {
            mark = mark is null
                ? later
                : new CrashMark(Math.Max(mark.Acknowledged, later.Acknowledged), Math.Min(mark.Submitted, later.Submitted));
        }
        if (mark is null)
            return before;

        // Commits that changed nothing are acknowledged without anything being written.
        int newest = Math.Max(mark.Acknowledged, mark.Submitted);
        return history.GetRange(mark.Acknowledged, newest - mark.Acknowledged + 1);
    }

    /// <summary>What was being done at a cut.</summary>
    public string Describe(int cut) => cut == 0 ? "nothing" : $"{disk.Trace(cut - 1).Kind} {disk.NameOf(disk.Trace(cut - 1))}".TrimEnd();
}
