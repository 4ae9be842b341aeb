using System.Buffers.Binary;
using System.IO.MemoryMappedFiles;

namespace Voron.Simulation.Harness;

/// <summary>
/// The progress of the runs of a process, in a mapped file: cheap enough to be updated for each run, and still available if the process dies
/// in the middle of one.
/// </summary>
internal sealed class RunMarks
{
    private const int MaxWorkers = 256;
    private const int RunsAt = 0;
    private const int CasesAt = 1;
    private const int NextAt = 2;
    private const int WorkersAt = 3;

    private readonly MemoryMappedViewAccessor _view;

    // Stays mapped for as long as the process lives: a worker that hangs may still resume and use it.
    public RunMarks(string path)
    {
        var file = MemoryMappedFile.CreateFromFile(path, FileMode.Create, null, (WorkersAt + MaxWorkers) * sizeof(long));
        _view = file.CreateViewAccessor();
    }

    public void Begin(int worker, long run) => Set(WorkersAt + (worker % MaxWorkers), run + 1);

    public void End(int worker) => Set(WorkersAt + (worker % MaxWorkers), 0);

    public void Note(long runs, long cases, long next)
    {
        Set(RunsAt, runs);
        Set(CasesAt, cases);
        Set(NextAt, next);
    }

    /// <summary>Loads the marks that a process has recorded, or had recorded when it died.</summary>
    public static Noted Load(string path)
    {
        var bytes = File.Exists(path) ? File.ReadAllBytes(path) : [];
        if (bytes.Length < (WorkersAt + MaxWorkers) * sizeof(long))
            return new Noted(0, 0, 0, []);
        long[] underWay =
        [
            .. Enumerable.Range(WorkersAt, MaxWorkers).Select(at => Get(bytes, at) - 1).Where(run => run >= 0).Order(),
        ];
        var next = Math.Max(Get(bytes, NextAt), underWay is [.., var last] ? last + 1 : 0);
        return new Noted(Get(bytes, RunsAt), Get(bytes, CasesAt), next, underWay);
    }

    private static long Get(byte[] bytes, int at) => BinaryPrimitives.ReadInt64LittleEndian(bytes.AsSpan(at * sizeof(long)));

    private void Set(int at, long value) => _view.Write(at * sizeof(long), value);

    /// <param name="Runs">The number of runs made.</param>
    /// <param name="Cases">The number of cases that they checked.</param>
    /// <param name="Next">The number of the first run that has not begun.</param>
    /// <param name="UnderWay">The numbers of the runs that had begun and not ended.</param>
    internal sealed record Noted(long Runs, long Cases, long Next, IReadOnlyList<long> UnderWay);
}
