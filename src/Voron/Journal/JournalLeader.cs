using System.Diagnostics;
using System.Runtime.ExceptionServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The steps of the thread that leads: a batch from the queue to the device, to the listener, and to its waiters.</summary>
/// <remarks>
/// <code>
///   lead taken ─▶ batch taken ─▶ sealed, written ─▶ each record: published, durable ─▶ each record: acknowledged ─▶ lead ended
///                                  └─ failed: poisoned; the batch has an unknown outcome, the queued records are not committed ─▲
/// </code>
/// Where a record of the batch names extents that were not synced, the data file is synced during the write (<see cref="ExtentSync"/>), and
/// nothing is published before both have ended.
/// <para>
/// On a slow device (<see cref="DeviceSpeed.SlowTicks"/>), a leader admits a second one once its batch is sealed, so that the next records do not
/// wait for its write. The second waits for the first to end before it publishes. Only durable transactions of one file overlap: neither batch has a
/// record of a flush, a lazy one or one with unsynced extents, and no zeros follow the first.
/// </para>
/// <para>
/// A thread that waits for its record leads while no other thread does, until its own record is durable. The journal thread leads for records
/// without a waiting thread. The leader holds no lock of the journal and runs no user code: waiting for it, as flushes and closing do, therefore
/// means waiting for the device. No record is published out of order, and only a lazy one is acknowledged before it is durable.
/// </para>
/// <para>
/// Lazy records have no waiting thread. They wait in the queue for the next leader: that of a durable record, or the journal thread when half of
/// the buffers for records are queued, or when the interval of lazy commits has passed since the first of them.
/// </para>
/// </remarks>
internal sealed unsafe class JournalLeader
{
    // The part of a write for which a leader waits for more records, on a slow device.
    private const int GatheringPart = 8;

    // Callers return within a time that depends on processors, however slow the device is.
    private static readonly long MaxGatheringTicks = Stopwatch.Frequency / 2_000;

    private readonly RecordQueue _queue;
    private readonly RecordBatchWriter _writer;
    private readonly PoisonState _poison;
    private readonly IJournalListener _listener;
    private readonly ExtentSync _extents;
    private readonly bool _overlapsSyncs;
    private readonly long _lazyMilliseconds;

    // Leads when no waiting thread does.
    private readonly BackgroundThread _thread;

    // Does the same while another leader writes, on a slow device.
    private readonly BackgroundThread _secondThread;

    // The tick by which the thread writes the waiting records, or 0 if none wait.
    private long _dueTick;

    // True if a waiting record must not wait for that tick.
    private bool _isUrgent;

    public JournalLeader(RecordQueue queue, RecordBatchWriter writer, PoisonState poison, IJournalListener listener, in JournalResources resources)
    {
        _queue = queue;
        _writer = writer;
        _poison = poison;
        _listener = listener;
        _extents = new ExtentSync(listener);
        _overlapsSyncs = resources.OverlapsSyncs;
        _lazyMilliseconds = (long)resources.LazyInterval.TotalMilliseconds;
        _thread = new BackgroundThread("Voron journal", resources.ThreadIdleTime, () => RunThread(_thread!));
        _secondThread = new BackgroundThread("Voron journal, second", resources.ThreadIdleTime, () => RunThread(_secondThread!));
    }

    /// <summary>True while there is a thread of the journal's own.</summary>
    public bool HasThread => _thread.IsRunning || _secondThread.IsRunning;

    /// <summary>Prevents the start of further threads.</summary>
    public void RefuseThreads()
    {
        _thread.RefuseStart();
        _secondThread.RefuseStart();
    }

    /// <summary>Waits until the threads have ended.</summary>
    public void JoinThreads()
    {
        _thread.Join();
        _secondThread.Join();
    }

    /// <summary>Makes the thread write the queued records; writes them here if there is no memory for a thread.</summary>
    public void WriteInBackground()
    {
        if (_queue.AdmitsSecond)
            _secondThread.TryWake();
        Volatile.Write(ref _isUrgent, true);
        if (!_thread.TryWake())
            WriteQueued();
    }

    /// <summary>Makes the thread write the queued records, including those of this caller, within the interval of lazy commits.</summary>
    public void WriteWithinInterval()
    {
        // The thread clears the tick before it takes the queued records, so it writes every record queued while the tick was set.
        if (Volatile.Read(ref _dueTick) != 0)
            return;
        Volatile.Write(ref _dueTick, Environment.TickCount64 + _lazyMilliseconds);
        if (_thread.TryWake())
            return;

        // No thread will clear it.
        Volatile.Write(ref _dueTick, 0);
        WriteQueued();
    }

    /// <summary>Writes the queued records until there are none, or another thread leads.</summary>
    public void WriteQueued()
    {
        while (_queue.TryLead())
            WriteBatch(notifiesObservers: false);
    }

    /// <summary>
    /// Writes and acknowledges the next batch. The caller leads; it no longer does when the method returns, in every case.
    /// </summary>
    /// <param name="notifiesObservers">The caller notifies the observers itself.</param>
    /// <returns>True if there are more records, for which a thread must be found.</returns>
    public bool WriteBatch(bool notifiesObservers)
    {
        _queue.AssertLeading();
        var slowTicks = _writer.SlowTicks;
        if (slowTicks != 0)
            Gather(Math.Min(slowTicks / GatheringPart, MaxGatheringTicks));
        if (_queue.TakeBatch() is not { } batch)
            return false;
        try
        {
            SchedulePoint.Reach(SchedulePlace.Writing);
            if (batch.Records.Count > 0)
                Write(batch);
            SchedulePoint.Reach(SchedulePlace.Written);
            if (batch.IsSecond && !PlantedFault.PublishSecondWriteFirst && !_queue.WaitForTurn(batch) && !PlantedFault.OutliveFirstWrite)
                _poison.ThrowIfPoisoned();
            if (batch.Records.Count > 0)
                _writer.Note(batch);
            Publish(batch);
        }
        catch (Exception e)
        {
            Fail(batch, e);
            return false;
        }

        var more = Complete(batch);
        if (!notifiesObservers)
            _listener.OnRecordWritten();
        return more;
    }

    // An exception that ended this thread would end the process.
    private void RunThread(BackgroundThread thread)
    {
        try
        {
            while (!thread.IsStopping && thread.WaitOrEnd())
            {
                if (thread == _thread)
                    WaitForInterval();
                WriteQueued();
            }
        }
        catch (Exception e)
        {
            _poison.Set(e);
            _queue.FailQueued();
        }
    }

    // The callers that have just been acknowledged are about to submit again. Without this short wait, the first of them would write its record
    // alone, and the others would wait for one of the two writes under way.
    private void Gather(long ticks)
    {
        var until = Stopwatch.GetTimestamp() + ticks;
        while (_queue.Count < _queue.AcknowledgedCount && Stopwatch.GetTimestamp() < until)
            Thread.Yield();
    }

    private void WaitForInterval()
    {
        while (!Volatile.Read(ref _isUrgent) && !_thread.IsStopping && Volatile.Read(ref _dueTick) - Environment.TickCount64 is > 0 and var left)
            _thread.Wait(TimeSpan.FromMilliseconds(left));
        Volatile.Write(ref _isUrgent, false);
        Volatile.Write(ref _dueTick, 0);
        Interlocked.MemoryBarrier();
    }

    private void Write(RecordBatch batch)
    {
        _writer.Seal(batch, PlantedFault.ConfirmWriteUnderWay ? batch.Before : _queue.DurableSequence);
        var needsSync = HasUnsyncedExtents(batch);
        if (needsSync)
            _extents.Offer(_overlapsSyncs);
        else if (_writer.SlowTicks != 0 && batch.AdmitsSecond && !_writer.MeasuresSpeed)
            AdmitSecond(batch);
        Exception? failure;
        try
        {
            _writer.Write(batch);
        }
        finally
        {
            failure = needsSync ? _extents.End() : null;
        }

        if (failure != null)
            ExceptionDispatchInfo.Throw(failure);
    }

    // A caller may wait for the queued records, but a thread that finds another leader does no harm.
    private void AdmitSecond(RecordBatch batch)
    {
        batch.Overlaps = true;
        if (_queue.AdmitSecond())
        {
            if (_secondThread.IsCurrent)
                Volatile.Write(ref _isUrgent, true);
            (_secondThread.IsCurrent ? _thread : _secondThread).TryWake();
        }

        SchedulePoint.Reach(SchedulePlace.SecondAdmitted);
    }

    private static bool HasUnsyncedExtents(RecordBatch batch)
    {
        foreach (var record in batch.Records)
        {
            if ((record.Header->Flags & RecordFlags.ExtentsUnsynced) != 0 && !PlantedFault.AcknowledgeUnsyncedExtents)
                return true;
        }

        return false;
    }

    private void Publish(RecordBatch batch)
    {
        foreach (var record in batch.Records)
        {
            SchedulePoint.Reach(SchedulePlace.Publishing);
            _listener.OnRecordDurable(record);
            SchedulePoint.Reach(SchedulePlace.Published);
            _queue.SetDurable(record.Sequence);
        }
    }

    private bool Complete(RecordBatch batch)
    {
        var empty = _queue.TakeUnchangedCommits();

        // Outside the lock, because completing a source may take time.
        var records = batch.Records;
        for (var i = 0; i < records.Count; i++)
        {
            var record = records[PlantedFault.AcknowledgeOutOfOrder ? records.Count - 1 - i : i];
            Debug.Assert(record.Sequence <= _queue.DurableSequence, "no record is acknowledged before it is durable");
            record.Acknowledge(null);
            empty = UnchangedCommits.Complete(empty, record.Sequence);
            SchedulePoint.Reach(SchedulePlace.Acknowledged);
        }

        UnchangedCommits.Complete(empty, long.MaxValue);

        var more = false;
        while (!_queue.TryEndLeading(batch, ref more, out empty))
            UnchangedCommits.Complete(empty, long.MaxValue);
        return more;
    }

    private void Fail(RecordBatch batch, Exception cause)
    {
        _poison.Set(cause);
        if (batch.IsSecond)
            _queue.WaitForTurn(batch);
        try
        {
            foreach (var record in batch.Records)
                record.Acknowledge(_poison.Exception(CommitOutcome.Unknown));
        }
        finally
        {
            _queue.Fail(batch);
        }
    }
}

/// <summary>
/// Makes durable the bytes that the transactions of a batch have written past the journal, while the leader writes the batch. The leader offers
/// the sync before its write and ends it afterwards. Nothing is running while no thread leads.
/// </summary>
/// <param name="listener">Makes the bytes durable.</param>
internal sealed class ExtentSync(IJournalListener listener) : OfferedWork
{
    protected override void Work() => listener.SyncExtents();
}

/// <summary>The memory and the thread of a journal.</summary>
/// <param name="Memory">The memory for records on their way to the journal.</param>
/// <param name="ThreadIdleTime">The time without work after which the journal thread ends; the next work starts another one.</param>
/// <param name="LazyInterval">The longest time that a record waits if it is published before it is durable.</param>
/// <param name="OverlapsSyncs">True to sync the data file during a journal write, on another thread, rather than after it.</param>
internal readonly record struct JournalResources(BlockMemory Memory, TimeSpan ThreadIdleTime, TimeSpan LazyInterval, bool OverlapsSyncs)
{
    /// <inheritdoc cref="IDisk.SlowWrite"/>
    public TimeSpan SlowWrite { get; init; } = TimeSpan.MaxValue;
}
