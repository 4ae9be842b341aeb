using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;
using Voron.Recording;
using Voron.Testing;

namespace Voron.Feeds;

/// <summary>Deletes old changes from feeds: in the background while changes are recorded, and on request.</summary>
/// <remarks>
/// <code>
///   idle ──4 MiB recorded, or the first change in a minute──▶ running ──all feeds trimmed──▶ idle
/// </code>
/// A run trims the feeds in steps of 4 MiB, up to the transaction that is the newest when it begins. A step finds the new cut in a snapshot, without
/// the writer: the last change that may be deleted, at the end of a transaction, however large that is. Then a write transaction checks the cut and
/// the consumers again, moves the cut, and deletes the changes up to it, most of them as whole leaves. There is one run at a time.
/// </remarks>
/// <param name="background">Runs the deletion in the background.</param>
[SuppressMessage("Design", "CA1001", Justification = "A semaphore without a wait handle needs no disposal.")]
internal sealed class FeedRetention(BackgroundRun background)
{
    private const long BytesBetweenRuns = 4 << 20;
    private const long BytesOfStep = 4 << 20;
    private const int PartAtOnce = 32;

    private readonly SemaphoreSlim _oneRun = new(1);
    private long _recorded;

    /// <summary>Notes that a transaction has recorded changes. Called by the holder of the writer; starts a run if one is due.</summary>
    public void OnRecorded(long bytes)
    {
        _recorded += bytes;
        if (background.TryBegin(isUrgent: _recorded >= BytesBetweenRuns))
            _recorded = 0;
    }

    /// <summary>Deletes the changes that exceed the limits of the feeds, as of now. Returns the number of changes deleted.</summary>
    /// <exception cref="CorruptionException">A feed is damaged. The others have been trimmed.</exception>
    /// <exception cref="OperationCanceledException">Cancelled. What was deleted stays deleted.</exception>
    public Task<long> TrimAsync(CancellationToken stop) => TrimAsync(background.Options.CommitClock.GetUtcNow().UtcTicks, stop);

    private async Task<long> TrimAsync(long now, CancellationToken stop)
    {
        await _oneRun.WaitAsync(stop).ConfigureAwait(false);
        try
        {
            // Changes that are recorded meanwhile are left to the next run: otherwise this one might never end.
            Run run;
            List<string> names;
            CorruptionException? damagedName;
            using (var reading = background.BeginRead())
            {
                run = new Run(now, reading.TransactionId);
                names = new FeedRegistry(reading).Names(out damagedName);
            }

            var deleted = 0L;
            var damage = damagedName == null ? null : ExceptionDispatchInfo.Capture(damagedName);
            foreach (var name in names)
            {
                try
                {
                    deleted += await TrimAsync(name, run, stop).ConfigureAwait(false);
                }
                catch (CorruptionException e)
                {
                    damage ??= ExceptionDispatchInfo.Capture(e);
                }
            }

            damage?.Throw();
            return deleted;
        }
        finally
        {
            _oneRun.Release();
        }
    }

    // Continues while there may be more. A refused step is left to the next run, because the snapshots here are older than the state of the writer.
    private async Task<long> TrimAsync(string name, Run run, CancellationToken stop)
    {
        var deleted = 0L;
        while (FindStep(name, run, stop) is { } step)
        {
            var cut = await CutAsync(name, step, stop).ConfigureAwait(false);
            deleted += cut;
            if (cut == 0 || !step.MayLeaveMore)
                break;
        }

        return deleted;
    }

    /// <summary>Deletes them in a background run. Throws only if the environment is being closed.</summary>
    /// <param name="stop">Cancelled when the environment is closed.</param>
    public async Task TrimInBackgroundAsync(CancellationToken stop)
    {
        try
        {
            var deleted = await TrimAsync(background.ReadClock(), stop).ConfigureAwait(false);
            if (deleted > 0)
                FeedLog.Trimmed(background.Logger, background.Path, deleted);
        }
        catch (Exception e) when (e is not (OperationCanceledException or ObjectDisposedException))
        {
            FeedLog.TrimFailed(background.Logger, background.Path, e.Message, e);
        }
    }

    // Returns the end of the next step; null if there is nothing to delete.
    private Step? FindStep(string name, Run run, CancellationToken stop)
    {
        using var reading = background.BeginRead();
        var registry = new FeedRegistry(reading);
        if (!registry.TryGet(name, out var feed))
            return null;
        var changes = registry.OpenChanges(name, feed);
        var bytes = FeedRegistry.BytesOf(changes);
        var holds = Waiting(registry, feed).ConvertAll(consumer => consumer.Position);
        holds.Sort();
        var scan = new CutScan(new CutLimits
        {
            OldestTicks = feed.MaxAgeTicks == long.MaxValue ? 0 : run.NowTicks - feed.MaxAgeTicks,
            ExcessBytes = Math.Min(ExcessOf(feed, bytes), BytesOfStep),
            MostBytes = BytesOfStep,
            NewestId = run.NewestId,
            FeedBytes = bytes,
            HoldLimitBytes = PlantedFault.CutPastConsumer ? -1 : feed.HoldLimitBytes,
            Holds = [.. holds],
        });

        // Counts the free space of pages toward their changes. Otherwise, the step would delete more than the feed's excess over its limit.
        var share = bytes / Math.Max(1, changes.Count);
        foreach (var entry in changes.GetEntries())
        {
            stop.ThrowIfCancellationRequested();
            if (!ChangeRecord.TryReadKey(entry.Key, out var id, out var ordinal) || !ChangeRecord.TryRead(entry.Value, out var change))
                throw registry.DamagedChange(name, entry.Key);
            if (!scan.Take(id, ordinal, change.Time, Math.Max(share, entry.Key.Length + entry.ValueLength)))
                return ToStep(scan, holds, bytes > feed.MaxBytes, registry, feed);
        }

        scan.Finish();
        return ToStep(scan, holds, bytes > feed.MaxBytes, registry, feed);
    }

    // A little more than the excess, so that the next change does not make the feed too large again.
    private static long ExcessOf(in FeedRecord feed, long bytes) =>
        bytes <= feed.MaxBytes ? 0 : bytes - feed.MaxBytes + feed.MaxBytes / PartAtOnce;

    private static Step? ToStep(in CutScan scan, List<ChangePosition> holds, bool isTooLarge, FeedRegistry registry, in FeedRecord feed) =>
        scan.Cut is { } cut && cut > registry.OldestOf(feed)
            ? new Step(cut with { Stamp = registry.StampOf(feed) }, feed.Stamp, holds[..scan.Passed], isTooLarge || scan.Bytes >= BytesOfStep)
            : null;

    private async Task<long> CutAsync(string name, Step step, CancellationToken stop)
    {
        var writing = await background.BeginWriteAsync(stop).ConfigureAwait(false);
        try
        {
            var registry = new FeedRegistry(writing);

            // The feed may have been deleted, or a consumer may have moved back.
            if (!registry.TryGet(name, out var feed) || feed.Stamp != step.Stamp)
                return 0;
            var changes = registry.OpenChanges(name, feed);
            var cut = step.Cut;
            var passed = Waiting(registry, feed).FindAll(consumer => consumer.Position < cut);
            if (cut <= registry.OldestOf(feed) || passed.Exists(consumer => !step.Passed.Contains(consumer.Position)))
                return 0;
            (feed.CutId, feed.CutOrdinal) = (cut.TransactionId, cut.Ordinal);
            var feeds = FeedEditor.OpenFeeds(writing);
            feeds.Put(FeedRegistry.FeedKey(name), feed.ToBytes());
            ForgetSources(feeds, registry, feed);
            var last = ChangeRecord.WriteKey(cut.TransactionId, cut.Ordinal, stackalloc byte[ChangeRecord.KeyBytes]).ToArray();
            var deleted = new WriteTree(changes).DeleteRange(KeyRange.Through(last));
            await BackgroundRun.CommitAsync(writing).ConfigureAwait(false);
            foreach (var consumer in passed)
                FeedLog.CutPastConsumer(background.Logger, consumer.Name, name, background.Path, consumer.Position.ToString(), cut.ToString());
            return deleted;
        }
        finally
        {
            writing.Dispose();
        }
    }

    // Nothing refers to a source whose last change has been deleted.
    private static void ForgetSources(WriteTree feeds, FeedRegistry registry, in FeedRecord feed)
    {
        foreach (var (number, source, _) in registry.Sources(feed))
        {
            if (source.EndedId != 0 && source.EndedId < feed.CutId)
                feeds.Delete(FeedKeys.Source(feed.Number, number));
        }
    }

    // A consumer that a cut has passed must copy the data again, and holds back nothing until it has done so.
    private static List<FeedConsumer> Waiting(FeedRegistry registry, in FeedRecord feed)
    {
        var oldest = registry.OldestOf(feed);
        return registry.Consumers(feed).FindAll(consumer => consumer.Position >= oldest);
    }

    /// <summary>The state that a run trims.</summary>
    /// <param name="NowTicks">The time at which it began.</param>
    /// <param name="NewestId">The newest transaction then.</param>
    private readonly record struct Run(long NowTicks, long NewestId);

    /// <summary>The end of a step.</summary>
    /// <param name="Cut">The last change to delete.</param>
    /// <param name="Stamp">The stamp of the feed in which it was found.</param>
    /// <param name="Passed">The positions of the consumers that lose changes.</param>
    /// <param name="MayLeaveMore">True if the step ended at its limit, or is based on sizes, which are estimates.</param>
    private readonly record struct Step(ChangePosition Cut, long Stamp, List<ChangePosition> Passed, bool MayLeaveMore);
}
