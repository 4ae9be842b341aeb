using Voron.Simulation.Disks;

namespace Voron.Torture.Crashes;

/// <summary>The cuts of a growing trace, with the contents that may be found after each.</summary>
/// <param name="disk">The disk that has the trace.</param>
/// <param name="history">The contents that the marks count.</param>
/// <param name="before">The contents that may be found before the first mark, while the environment is being opened.</param>
internal sealed class CutPoints(SimulatedDisk disk, List<Content> history, IReadOnlyList<Content> before)
{
    // The last mark before each cut, or null.
    private readonly List<CrashMark?> _marks = [];
    private int _next;

    public CrashImages Images { get; } = new(disk);

    /// <summary>The number of the data file in the trace.</summary>
    public int DataFile => disk.FileOf(Paging.DataFile.FileName);

    /// <summary>Returns true if pages of the data file are being written, by a flush or by a transaction with a large value.</summary>
    public bool IsWritingData(int cut) => Images.HasPendingBytes(cut, DataFile);

    /// <summary>Returns true for a cut before the environment was open.</summary>
    public bool IsOpening(int cut) => _marks[cut] is null;

    /// <summary>
    /// Returns the cuts that have been added since the last call: one for each group of cuts between which nothing is done to the disk.
    /// </summary>
    public IReadOnlyList<int> Advance()
    {
        var count = disk.TraceCount;
        if (_marks.Count == 0)
            _marks.Add(null);
        for (var i = _marks.Count - 1; i < count; i++)
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
    /// Returns the contents that may be found after a cut, oldest first. Adjacent marks describe the same disk: the result must be right
    /// for each of them.
    /// </summary>
    public IReadOnlyList<Content> Allowed(int cut)
    {
        var mark = _marks[cut];
        for (var next = cut; next + 1 < _marks.Count && disk.Trace(next).Marker is CrashMark later; next++)
        {
            mark = mark is null
                ? later
                : new CrashMark(Math.Max(mark.Acknowledged, later.Acknowledged), Math.Min(mark.Submitted, later.Submitted));
        }
        if (mark is null)
            return before;

        // Commits that changed nothing are acknowledged without any write.
        var newest = Math.Max(mark.Acknowledged, mark.Submitted);
        return history.GetRange(mark.Acknowledged, newest - mark.Acknowledged + 1);
    }

    /// <summary>Returns the operation that was being performed at a cut.</summary>
    public string Describe(int cut) => cut == 0 ? "nothing" : $"{disk.Trace(cut - 1).Kind} {disk.NameOf(disk.Trace(cut - 1))}".TrimEnd();
}
