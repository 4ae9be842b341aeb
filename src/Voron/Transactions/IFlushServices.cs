using Voron.Format;

namespace Voron.Transactions;

/// <summary>The services of <see cref="Flushing"/> for writers: it is notified of their durable records, and throttles them when necessary.</summary>
internal interface IFlushServices
{
    /// <summary>Called for each durable record by the thread that wrote it; is quick, and never throws.</summary>
    void OnRecordDurable(long bytes);

    /// <summary>True while the journal or scratch memory is over its limit, so that writers wait. Takes no lock.</summary>
    bool IsDelaying { get; }

    /// <summary>
    /// True while the journal or the page versions hold enough for a flush: the device has enough to write. Takes no lock.
    /// </summary>
    bool IsFlushDue { get; }

    /// <summary>Called before the writer is taken. Waits for a limited time when the journal or scratch memory is over its limit.</summary>
    /// <param name="longest">The longest time to wait, if it is less than that.</param>
    /// <returns>The time that the call has waited.</returns>
    TimeSpan ThrottleWriter(TimeSpan longest);

    /// <summary>As <see cref="ThrottleWriter"/>, without blocking a thread.</summary>
    /// <param name="cancellationToken">Ends the wait without an exception.</param>
    ValueTask ThrottleWriterAsync(CancellationToken cancellationToken);

    /// <summary>
    /// Called by the holder of the writer when it has run out of space. Flushes all durable changes, so that pages freed by earlier transactions
    /// can be written directly and journal files can be reused. May take as long as a flush. If a flush itself runs out of space, it is not
    /// retried until a pause is over or the disk has more space.
    /// </summary>
    /// <returns>False when nothing was freed.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write or a sync failed, now or earlier. The open transaction is not committed.</exception>
    bool TryFlush();

    /// <summary>
    /// Called by the holder of the writer when a flush has not freed enough space for another file. Returns blocks of free pages to the file
    /// system, and then flushes. Searches for free pages for a limited time, and continues from there at the next call.
    /// </summary>
    /// <returns>False when nothing was returned.</returns>
    /// <inheritdoc cref="TryFlush"/>
    bool TryPunch();

    /// <summary>
    /// Called by the holder of the writer before the first use of features that engines of the same format version may not know. Durably adds them
    /// to both slots of the header; from then on, the environment is one of the newest version. Waits for a running flush.
    /// </summary>
    /// <remarks>The features stay, even if the transaction is rolled back.</remarks>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written, or an earlier write has failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    void RequireFeatures(FormatFeatures features);
}
