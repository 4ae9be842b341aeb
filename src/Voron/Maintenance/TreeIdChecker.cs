using Voron.Snapshots;
using Voron.Trees;

namespace Voron.Maintenance;

/// <summary>Checks that the ids of all trees are below the next one, and that none occurs twice.</summary>
/// <remarks>
/// Uses one bit per id of a window, and one walk over the catalog per window: in a store that has created and deleted trees for years, ids are far
/// beyond the number of pages, and must not cost more memory.
/// </remarks>
internal sealed class TreeIdChecker(SnapshotPages snapshot, Action<string> report)
{
    private const long MinWindow = 8 << 20;

    private readonly long _window = Math.Max(MinWindow, snapshot.State.PageCount);

    /// <exception cref="CorruptionException">The catalog cannot be read.</exception>
    public void Run()
    {
        var taken = new ulong[Math.Min(_window, snapshot.State.NextTreeId) / 64 + 1];
        var from = 0L;
        do
        {
            Array.Clear(taken);
            from = CheckWindow(taken, from);
        }
        while (from >= 0);
    }

    /// <summary>Checks the ids of a window. Returns the start of the next window, or -1 when there is none.</summary>
    private long CheckWindow(ulong[] taken, long from)
    {
        var next = -1L;
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(snapshot.State.Catalog), snapshot, canChange: false);
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
        {
            var id = Catalog.ToHeader(cursor.Key, cursor.Value, snapshot.State.PageCount, snapshot.PageSize, snapshot.FilePath).TreeId - from;
            if (id < 0)
                continue;
            if (id >= _window && id + from < snapshot.State.NextTreeId)
            {
                next = from + _window;
                continue;
            }

            var isBelow = id + from < snapshot.State.NextTreeId;
            if (!isBelow || (taken[id / 64] & 1UL << (int)(id % 64)) != 0)
                report($"{Catalog.Describe(cursor.Key)}: its id {id + from} also belongs to another tree, or is not below the next id {snapshot.State.NextTreeId}");
            else
                taken[id / 64] |= 1UL << (int)(id % 64);
        }

        cursor.Close();
        return next;
    }
}
