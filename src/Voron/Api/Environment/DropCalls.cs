using Voron.Dropping;
using Voron.Opening;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>The calls that drop trees in steps, and the start of that work in the background.</summary>
internal sealed class DropCalls
{
    private readonly ReadingEngine _engine;
    private readonly ReaderPool _readers;
    private readonly LongCalls _calls;

    /// <param name="opened">An environment that is open for writing.</param>
    /// <param name="calls">Runs the calls.</param>
    public DropCalls(OpenedEngine opened, LongCalls calls)
    {
        _engine = opened.Engine;
        _readers = opened.Readers;
        _calls = calls;
        var writing = opened.Writing!;
        Dropper = new TreeDropper(_engine, writing.Flusher, writing.Entrance);
    }

    public TreeDropper Dropper { get; }

    /// <summary>Drops a tree. Returns false if there is none of that name.</summary>
    /// <param name="shownName">The name of the tree for messages.</param>
    /// <param name="name">The bytes of its name.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    public ValueTask<bool> DropAsync(string shownName, byte[] name, CancellationToken cancellationToken)
    {
        var path = _engine.Disk.Path;
        var call = new LongCall(
            LongWork.Other,
            nameof(StorageEnvironment.DropTreeAsync),
            $"The drop of the tree '{shownName}' in '{path}' was cancelled. If the tree has already lost its name, its pages are still freed.",
            " It was closed while the pages of a dropped tree were freed. The next opening continues with them.",
            $"There is not enough memory to drop the tree '{shownName}' in '{path}': ");
        return _calls.RunAsync(call, stop => Dropper.DropAsync(name, stop), cancellationToken);
    }

    /// <summary>
    /// Begins to free the pages of trees that a transaction has dropped, if there is a background thread; otherwise a later drop frees them.
    /// </summary>
    public void FreeDroppedTrees()
    {
        if (_engine.Options.BackgroundFlush)
            Dropper.Resume();
    }

    /// <summary>Continues the drops that an earlier opening has begun. A damaged catalog, or a lack of memory, does not fail the opening.</summary>
    public void ResumeAtOpening()
    {
        if (!_engine.Options.BackgroundFlush || PlantedFault.ForgetDropsAtOpening)
            return;
        try
        {
            using (var reading = new ReadTransaction(_readers.Rent()))
            {
                if (!Catalog.TryFindDropped(reading.Body.Catalog, reading.Body.Pages, 0, out _))
                    return;
            }

            Dropper.Resume();
        }
        catch (Exception e) when (e is VoronException or OutOfMemoryException)
        {
            DroppingLog.Failed(_engine.Logger, _engine.Disk.Path, e.Message, e);
        }
    }
}
