using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Detaches the versions of flushed pages: readers find these pages in the data file from then on.</summary>
/// <remarks>
/// Waits for the writer without holding a lock. The versions to be detached belong to no flush any more, so the next flush may already be
/// under way. That flush finds the versions that are not detached yet in the table, and detaches them as well.
/// </remarks>
internal sealed unsafe class VersionDetacher(ReadingEngine engine, SingleWriter writer)
{
    private const int DetachSlice = 1024;

    /// <summary>Several times as long as the writer's queue delays a caller behind short transactions.</summary>
    private static readonly TimeSpan LongestDetachWait = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// Detaches in slices, so that writers wait only for a moment. Versions that a long write transaction keeps from being detached are left to
    /// the next flush: the transaction may be open on the very thread that asked for this flush.
    /// </summary>
    /// <param name="plan">The flushed plan.</param>
    /// <param name="number">The number that identifies this detach in the version table.</param>
    public void Detach(FlushPlan plan, long number)
    {
        try
        {
            // Not before all versions are detached, even when memory runs out on the way.
            if (DetachSlices(plan))
                engine.Versions.EndDetach(number);
        }
        catch (OperationCanceledException)
        {
            // The environment is being closed, perhaps while a write transaction is open. The versions left in the table are in the file
            // too.
        }
    }

    /// <summary>Detaches everything in one step. The caller holds the writer.</summary>
    /// <inheritdoc cref="Detach"/>
    public void DetachAsHolder(FlushPlan plan, long number)
    {
        writer.AssertHeld();
        writer.VersionReclaimer.Detach(plan.Touched.AsSpan(), plan.Target.State.TransactionId, engine.DataFile.MapAddress);
        engine.Versions.EndDetach(number);
    }

    private bool DetachSlices(FlushPlan plan)
    {
        var touched = plan.Touched.AsSpan();
        for (var from = 0; from < touched.Length; from += DetachSlice)
        {
            if (!writer.TryEnter(LongestDetachWait, engine.Closing.Token))
                return false;
            try
            {
                var slice = touched.Slice(from, Math.Min(DetachSlice, touched.Length - from));
                writer.VersionReclaimer.Detach(slice, plan.Target.State.TransactionId, engine.DataFile.MapAddress);

                // The next write may be far off, and the memory should be returned.
                if (from + DetachSlice >= touched.Length)
                    writer.VersionReclaimer.Reclaim();
            }
            finally
            {
                writer.Release();
            }
        }

        return true;
    }
}
