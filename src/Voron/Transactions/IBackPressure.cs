using Voron.Format;

namespace Voron.Transactions;

/// <summary>The services of <see cref="Flushing"/> for writers: it is notified of their durable records, and slows them when it must.</summary>
internal interface IBackPressure
{
    /// <summary>Called for each durable record by the thread that wrote it; is quick, and never throws.</summary>
    void OnRecordDurable(long bytes);

    /// <summary>True while the journal or scratch memory is over its limit, so that writers wait. Takes no lock.</summary>
    bool IsDelaying { get; }

    /// <summary>
    /// True while the journal or the page versions have enough for a flush, or one is under way: the device has enough to write. Takes no lock.
    /// </summary>
    bool IsFlushDue { get; }

    /// <summary>Called before the writer is taken. Waits for a limited time when the journal or scratch memory is over its limit.</summary>
    void ThrottleWriter();

    /// <summary>As <see cref="ThrottleWriter"/>, without blocking a thread.</summary>
    ValueTask ThrottleWriterAsync();

    /// <summary>
    /// Called by the holder of the writer when it has found no room. Flushes all durable changes, so that pages freed by earlier
    /// transactions can be written directly and journal files can be reused. May take as long as a flush. If a flush has found no room
    /// itself, it is not tried again until a pause is over or the disk has more room.
    /// </summary>
    /// <returns>False when nothing was freed.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write or a sync failed, now or earlier. The open transaction is not committed.</exception>
    bool TryFlush();

    /// <summary>
    /// Called by the holder of the writer when a flush has not made enough room for another file. Returns blocks of free pages to the file
    /// system, and then flushes. Searches for free pages for a limited time, and continues from there at the next call.
    /// </summary>
    /// <returns>False when nothing was returned.</returns>
    /// <inheritdoc cref="TryFlush"/>
    bool TryPunch();

    /// <summary>
    /// Called by the holder of the writer before the first use of features that engines of the same format version may not know. Makes both slots of
    /// the header name them, durably, in an environment that is one of the newest version from then on. Waits for a flush that is under way.
    /// </summary>
    /// <remarks>The features stay, even if the transaction is rolled back.</remarks>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written, or an earlier write has failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    void RequireFeatures(FormatFeatures features);
}
