using System.Diagnostics;
using Voron.Format;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Trees;
using Voron.Trees.Kinds;

namespace Voron.Backup;

/// <summary>
/// Walks the trees with values outside their leaves, and reports the pages of these values to the copier: pages of large values are claimed, and
/// overflow extents whose pages were not copied together are copied again.
/// </summary>
/// <remarks>
/// Rarely needed: a copied leaf claims the pages of its values. But a change log may name pages that have not changed; their copies lose their
/// marks, while the leaf is not copied again. The walk runs in slices, each with a newer snapshot. Pages that change meanwhile are copied again,
/// including their leaves.
/// </remarks>
internal sealed unsafe class OwnerSearch : ITreeCheckHost
{
    private static readonly TimeSpan LongestSlice = TimeSpan.FromMilliseconds(50);

    private readonly int _pageSize;
    private readonly PageCopier _copier;
    private readonly TreeChecker _walk;
    private readonly Queue<byte[]> _trees = [];
    private readonly bool _isInOneSlice;
    private SnapshotPages _snapshot = null!;
    private CancellationToken _stop;
    private long _began;
    private bool _isListed;
    private bool _isInTree;

    /// <param name="copier">The copier.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="isInOneSlice">True to walk all trees with the first snapshot.</param>
    public OwnerSearch(PageCopier copier, int pageSize, bool isInOneSlice)
    {
        _pageSize = pageSize;
        _copier = copier;
        _isInOneSlice = isInOneSlice;
        _walk = new TreeChecker(this);
    }

    /// <summary>The first problem of the walk; null if there was none.</summary>
    public string? Problem { get; private set; }

    int ITreeCheckHost.PageSize => _pageSize;

    long ITreeCheckHost.PageLimit => _snapshot.PageCount;

    bool ITreeCheckHost.IsOver
    {
        get
        {
            _stop.ThrowIfCancellationRequested();
            return !_isInOneSlice && Stopwatch.GetElapsedTime(_began) >= LongestSlice;
        }
    }

    /// <summary>Continues the walk with a snapshot, which the copier uses too.</summary>
    /// <returns>True at the end.</returns>
    /// <remarks>A damaged catalog is a <see cref="Problem"/>: only the copier knows which page is damaged.</remarks>
    /// <exception cref="OperationCanceledException">The search was cancelled.</exception>
    public bool Run(SnapshotPages snapshot, CancellationToken stop)
    {
        (_snapshot, _stop) = (snapshot, stop);
        _began = Stopwatch.GetTimestamp();
        if (!_isListed)
            ListTrees();
        while (_trees.TryPeek(out var name))
        {
            if (TryFind(name, out var header))
            {
                if (!_isInTree)
                    _walk.Begin();
                _isInTree = true;
                if (!_walk.Run(header))
                    return false;
            }

            _isInTree = false;
            _trees.Dequeue();
        }

        return true;
    }

    void ITreeCheckHost.Report(string problem) => Problem ??= problem;

    bool ITreeCheckHost.Own(long first, int pages, bool isValue)
    {
        if (isValue)
            _copier.NoteClaimed(first, pages);
        else
            _copier.TryAddUnsound(first, pages);
        return true;
    }

    byte* ITreeCheckHost.Read(PageNumber page, bool again)
    {
        try
        {
            return _snapshot.Read(page);
        }
        catch (VoronException e)
        {
            Note(e);
            return null;
        }
    }

    // The content of values is not checked here.
    string? ITreeCheckHost.FindFault(byte* record, uint treeId) => null;

    bool ITreeCheckHost.CheckValue(in LargeExtentReference reference, ref long chunk) => true;

    private void Note(VoronException e) => Problem ??= e.Message;

    // Trees created later are new, and so are all their pages. A tree renamed meanwhile is left to the last search, which uses a single snapshot.
    private void ListTrees()
    {
        _isListed = true;
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(_snapshot.State.Catalog), _snapshot, canChange: false);
        try
        {
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
            {
                if (Catalog.ToHeader(cursor.Key, cursor.Value, _snapshot.PageCount, _snapshot.PageSize, _snapshot.FilePath).OverflowPages > 0)
                    _trees.Enqueue(cursor.Key.ToArray());
            }
        }
        catch (CorruptionException e)
        {
            Note(e);
        }
        finally
        {
            cursor.Close();
        }
    }

    private bool TryFind(byte[] name, out TreeHeader header)
    {
        header = default;
        var cursor = new TreeCursor();
        cursor.Open(new TreeState(_snapshot.State.Catalog), _snapshot, canChange: false);
        try
        {
            if (!cursor.Seek(name) || !cursor.Key.SequenceEqual(name))
                return false;
            header = Catalog.ToHeader(cursor.Key, cursor.Value, _snapshot.PageCount, _snapshot.PageSize, _snapshot.FilePath);
            return true;
        }
        catch (CorruptionException e)
        {
            Note(e);
            return false;
        }
        finally
        {
            cursor.Close();
        }
    }
}
