using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Testing;

namespace Voron.ChangeTracking;

// The search for the pages that have changed between two states.
internal sealed partial class ChangedPageTracker
{
    /// <summary>Adds all pages that differ between two states to a set, and perhaps more.</summary>
    /// <remarks>
    /// Called while a snapshot of the newer state is registered, which keeps each flush at or before it. The order matters: a flush adds its entry
    /// before it releases direct writes and detaches versions, so pages missing from those two are in the log by then.
    /// </remarks>
    /// <param name="versions">The version table.</param>
    /// <param name="since">The older state.</param>
    /// <param name="state">The newer state.</param>
    /// <param name="changed">The set, which has space for all pages of the newer state.</param>
    /// <returns>False if there is no log that reaches back to the older state.</returns>
    public bool TryCollect(VersionTable versions, long since, in EnvironmentState state, ChangedPages changed)
    {
        int generation;
        using (_lock.Enter())
            generation = TryFind() && since >= Since ? _generation : -1;
        if (generation < 0 || (PlantedFault.LookAtLogFirst && !TryAddLogged(generation, since, changed)))
            return false;
        SchedulePoint.Reach(SchedulePlace.CollectingChanges);
        changed.AddVersions(versions, since, state);
        SchedulePoint.Reach(SchedulePlace.VersionsCollected);
        var direct = changed.Scratch;
        direct.Clear();
        _directWrites.CopyTo(direct, since, state.TransactionId);
        changed.Add(direct.Extents);
        SchedulePoint.Reach(SchedulePlace.DirectWritesCollected);
        return PlantedFault.LookAtLogFirst || TryAddLogged(generation, since, changed);
    }

    // One entry at a time, so that a flush waits for one at most. If entries were merged meanwhile, the merged one contains the pages of all of them.
    private bool TryAddLogged(int generation, long since, ChangedPages changed)
    {
        for (var sequence = 0L; sequence >= 0;)
        {
            using (_lock.Enter())
            {
                if (!_isOn || _hasLostWrites || generation != _generation || !TryAddNext(since, ref sequence, changed))
                    return false;
            }
        }

        return true;
    }

    private bool TryAddNext(long since, ref long sequence, ChangedPages changed)
    {
        foreach (var place in _file!.Entries)
        {
            var header = place.Header;
            if (header.Sequence <= sequence || header.To <= since || header.Kind == ChangeLogEntryKind.Points)
                continue;
            sequence = header.Sequence;
            _pages.Clear();
            try
            {
                if (!ChangeLogContent.TryAddPages(_file, place, _pages))
                {
                    End($"The entry at offset {place.Offset} of '{_file.Path}' is damaged.");
                    return false;
                }
            }
            catch (DiskException e)
            {
                End(e.Message);
                return false;
            }

            changed.Add(_pages.Extents);
            _pages.Clear();
            return true;
        }

        sequence = -1;
        return true;
    }
}
