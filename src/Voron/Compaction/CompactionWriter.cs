using System.Diagnostics;
using Voron.FreeSpace;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Compaction;

/// <summary>Runs the short transactions of a compaction, measures how long each holds the writer, and makes blocks without the writer.</summary>
/// <param name="engine">The environment.</param>
/// <param name="writer">Its writer.</param>
/// <param name="entrance">Gives the writer to this class.</param>
/// <param name="isOnOneThread">True to commit on the calling thread, for deterministic tests.</param>
internal sealed class CompactionWriter(ReadingEngine engine, SingleWriter writer, WriterEntrance entrance, bool isOnOneThread)
{
    /// <summary>The time to wait for a section that another thread is returning to the file system.</summary>
    private static readonly TimeSpan BusyPause = TimeSpan.FromMilliseconds(5);

    /// <summary>The longest time for which a transaction held the writer.</summary>
    public TimeSpan LongestHold { get; private set; }

    /// <summary>The id of the last transaction that changed anything.</summary>
    public long LastTransactionId { get; private set; }

    /// <summary>An upper bound of the bytes of blocks made since the count was last set to 0.</summary>
    public long MadeBytes { get; set; }

    /// <summary>Runs work in a transaction, and returns when the transaction is durable.</summary>
    /// <param name="work">The work. If it returns false, the transaction is rolled back.</param>
    /// <param name="stop">Cancels the wait for the writer.</param>
    /// <exception cref="ObjectDisposedException">The environment was closed.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed.</exception>
    public async Task RunAsync(Func<WriteTransactionBody, bool> work, CancellationToken stop)
    {
        var body = await entrance.BeginAsync(stop).ConfigureAwait(false);
        var began = Stopwatch.GetTimestamp();
        try
        {
            if (ShortTransaction.TryRun(body, work))
            {
                var progress = default(CommitProgress);
                var id = body.WritePages.Id;
                var durable = isOnOneThread ? Commit(body, ref progress) : body.CommitAsync(ref progress);
                LastTransactionId = id;
                NoteHold(began);
                await durable.ConfigureAwait(false);
            }
            else
            {
                NoteHold(began);
            }
        }
        finally
        {
            body.CallUser();
        }
    }

    /// <summary>Holds the writer while it runs work that changes no page.</summary>
    /// <inheritdoc cref="RunAsync"/>
    public async Task<T> UseAsync<T>(Func<CopyOnWritePages, T> work, CancellationToken stop)
    {
        var began = 0L;
        var result = await entrance.UseAsync(
            pages =>
            {
                began = Stopwatch.GetTimestamp();
                return work(pages);
            },
            stop).ConfigureAwait(false);
        NoteHold(began);
        return result;
    }

    /// <summary>Makes blocks for free pages that may have none. Their sections are withheld from allocation meanwhile.</summary>
    /// <param name="first">The first page.</param>
    /// <param name="count">The number of pages.</param>
    /// <param name="stop">Cancels the wait for the writer.</param>
    /// <exception cref="StorageFullException">There is no space for them.</exception>
    /// <inheritdoc cref="RunAsync"/>
    public async Task MakeBlocksAsync(long first, long count, CancellationToken stop)
    {
        var (sections, ranges) = (new List<long>(), new List<PageRange>());
        while (!await UseAsync(pages => TryWithhold(pages, first, count, sections, ranges), stop).ConfigureAwait(false))
            await SchedulePoint.Pause(BusyPause, stop).ConfigureAwait(false);
        if (ranges.Count == 0)
            return;
        var isMade = false;
        try
        {
            foreach (var range in ranges)
            {
                engine.DataFile.RefillUnsynced(range.First, range.Pages);
                MadeBytes += range.Pages * engine.PageSize;
            }

            engine.DataFile.Sync();
            isMade = true;
            SchedulePoint.Reach(SchedulePlace.CompactionBlocksMade);
        }
        finally
        {
            writer.RunWhenFree(() => Offer(sections, isMade ? ranges : []));
        }
    }

    private static ValueTask Commit(WriteTransactionBody body, ref CommitProgress progress)
    {
        body.Commit(notifiesObservers: false, ref progress);
        return ValueTask.CompletedTask;
    }

    // False while another thread returns or makes blocks there.
    private static bool TryWithhold(CopyOnWritePages pages, long first, long count, List<long> sections, List<PageRange> ranges)
    {
        var layout = pages.Layout;
        for (var section = layout.SectionOf(first); section <= layout.SectionOf(first + count - 1); section++)
        {
            if (pages.Space.Withheld.IsSingle(section))
            {
                ranges.Clear();
                return false;
            }

            var from = Math.Max(first, section * layout.PagesPerSection);
            pages.Holes.AddTo(ranges, from, Math.Min(first + count, (section + 1) * layout.PagesPerSection) - from);
        }

        foreach (var section in ranges.Select(range => layout.SectionOf(range.First)).Distinct())
        {
            pages.Space.Withhold(section);
            sections.Add(section);
        }

        return true;
    }

    private void Offer(List<long> sections, List<PageRange> made)
    {
        foreach (var range in made)
            writer.WritePages.Holes.NoteFilled(range.First, range.Pages);
        foreach (var section in sections)
            writer.WritePages.Space.Offer(section);
    }

    private void NoteHold(long began)
    {
        var hold = Stopwatch.GetElapsedTime(began);
        if (hold > LongestHold)
            LongestHold = hold;
    }
}
