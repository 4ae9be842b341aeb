using Voron.Dropping;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Trees that are dropped in steps.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Deletes a tree without holding the writer for long, however large it is: its name is free at once, and its pages are freed in the background.
    /// </summary>
    /// <remarks>
    /// <para>
    /// One short transaction removes the tree's name; like any other, it waits for the writer and is committed. Then the pages are freed in
    /// transactions of up to a thousand pages each, or fewer if another caller waits for the writer. <see cref="WriteTransaction.DeleteTree"/>, by
    /// contrast, frees all pages in the caller's transaction.
    /// </para>
    /// <para>
    /// The call returns when all pages of the tree are free. Once the tree has lost its name, cancellation ends the wait, but not the freeing. If the
    /// environment is closed or its process ends, the next opening continues the freeing in the background; if
    /// <see cref="StorageOptions.BackgroundFlush"/> is off, the next tree drop continues it. A reader older than the most recently freed pages delays
    /// the remaining pages until it ends.
    /// </para>
    /// <para>In an environment with file format version 1, the first transaction frees all pages.</para>
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>False if there is no such tree.</returns>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="CorruptionException">
    /// A page of the tree is damaged. The tree has lost its name, and keeps the pages that are not yet free.
    /// </exception>
    /// <exception cref="StorageFullException">
    /// There is no room for the first transaction; or the tree has lost its name, but there is no room to free more of its pages now.
    /// </exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, or the call was made inside a group-commit operation.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    public ValueTask<bool> DropTreeAsync(string name, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable(nameof(DropTreeAsync));
        return DropAsync(name, Catalog.Encode(name, new byte[TreeLimits.MaxNameBytes]).ToArray(), cancellationToken);
    }

    private async ValueTask<bool> DropAsync(string name, byte[] bytes, CancellationToken cancellationToken)
    {
        var call = new LongCall(
            LongWork.Drop,
            nameof(DropTreeAsync),
            $"The drop of the tree '{name}' in '{Path}' was cancelled. If the tree has lost its name already, its pages are freed all the same.",
            " It was closed while the pages of a dropped tree were freed. The next opening continues with them.",
            $"There is not enough memory to drop the tree '{name}' in '{Path}': ");
        var report = await RunLongAsync(
            call, async (_, stop) => new DropReport(await _dropper!.DropAsync(bytes, stop).ConfigureAwait(false)), isOnOneThread: false,
            (_, _) => { }, (_, _, _) => { }, cancellationToken).ConfigureAwait(false);
        return report.IsFound;
    }

    /// <summary>Begins to free the pages of trees that a transaction has dropped, if there is a background; otherwise a later drop does it.</summary>
    internal void FreeDroppedTrees()
    {
        if (Options.BackgroundFlush)
            _dropper?.Resume();
    }

    // A damaged catalog, or a lack of memory, is not the business of an opening.
    private void ResumeDropping()
    {
        if (_dropper == null || !Options.BackgroundFlush || PlantedFault.ForgetDropsAtOpening)
            return;
        try
        {
            using (var reading = BeginRead())
            {
                if (!Catalog.TryFindDropped(reading.Body.Catalog, reading.Body.Pages, 0, out _))
                    return;
            }

            _dropper.Resume();
        }
        catch (Exception e) when (e is VoronException or OutOfMemoryException)
        {
            DroppingLog.Failed(_engine.Logger, Path, e.Message, e);
        }
    }

    private sealed record DropReport(bool IsFound);
}
