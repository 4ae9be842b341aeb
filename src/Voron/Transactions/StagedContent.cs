using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.FreeSpace;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>The bytes of a staged value, or the pages reserved for them, and the transaction's claim to them.</summary>
/// <remarks>
/// <code>
///   uploading ─Complete─▶ ready ◀──Return── taken ─Commit─▶ committed
///       │                   │ ───Take────▶   │               ▲
///       │ Dispose           │ Dispose        │ Dispose       │ Commit
///       ▼                   ▼                ▼               │
///    disposed            disposed ◀─Return─ taken and disposed
/// </code>
/// A reservation ends with the step to <c>committed</c> or <c>disposed</c>, and only then. <see cref="Take"/>, <see cref="Return"/> and
/// <see cref="Commit"/> belong to the holder of the writer; any thread may dispose. The finalizer ends the reservation of an unreferenced value or
/// upload: it only adds to a list in managed memory, so it may run at any time, even after the environment is closed.
/// </remarks>
[SuppressMessage("Usage", "CA1816", Justification = "The value ends in several ways, each of which makes the finalizer unnecessary.")]
internal sealed class StagedContent
{
    private readonly ReservedPages _reserved;
    private readonly StackTrace? _stagedAt;
    private CancellationTokenRegistration _closing;
    private byte[] _bytes = [];
    private ulong[] _checksums = [];
    private int _state = (int)StagedState.Uploading;

    public StagedContent(ReadingEngine engine, ReservedPages reserved)
    {
        Engine = engine;
        _reserved = reserved;

        // Without this frame, and that of the staging area.
        _stagedAt = engine.Options.CaptureTransactionStacks ? new StackTrace(2, fNeedFileInfo: false) : null;
    }

    ~StagedContent()
    {
        if (Reservation is { } reservation && _reserved.End(reservation) && !Engine.Closing.IsCancellationRequested)
            ScheduleReport(reservation.Pages * Engine.PageSize);
    }

    /// <summary>The engine of the environment in which the value was staged.</summary>
    public ReadingEngine Engine { get; }

    /// <summary>The pages reserved for the bytes; null for a small value, and before the first pages are needed.</summary>
    public PageReservation? Reservation { get; private set; }

    /// <summary>The length in bytes; final when the upload has ended.</summary>
    public long Length { get; private set; }

    /// <summary>The bytes of a small value.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>The checksums of the chunks of a large value.</summary>
    public ReadOnlySpan<ulong> Checksums => _checksums;

    public StagedState State => (StagedState)Volatile.Read(ref _state);

    /// <summary>Sets the registration that ends the upload when the environment is closed. It is released together with the upload.</summary>
    public void EndWith(CancellationTokenRegistration closing) => _closing = closing;

    /// <summary>Replaces the pages of a large value; the previous ones are released.</summary>
    public void Use(PageReservation reservation)
    {
        Debug.Assert(State == StagedState.Uploading, "Only an upload changes its reservation.");
        var replaced = Reservation;
        Reservation = reservation;
        if (replaced != null && replaced != reservation)
            _reserved.End(replaced);
    }

    /// <summary>Releases the pages that the value does not need.</summary>
    public void Trim(long pages) => _reserved.Shorten(Reservation!, pages);

    /// <summary>Ends the upload: the value can be put.</summary>
    /// <param name="length">The length in bytes.</param>
    /// <param name="bytes">The bytes of a small value.</param>
    /// <param name="checksums">The checksums of a large value, whose bytes are durable.</param>
    public void Complete(long length, ReadOnlySpan<byte> bytes, ReadOnlySpan<ulong> checksums)
    {
        _bytes = bytes.ToArray();
        _checksums = checksums.ToArray();
        Length = length;
        _closing.Unregister();
        _closing = default;
        if (Reservation == null)
            GC.SuppressFinalize(this);
        Move(StagedState.Uploading, StagedState.Ready);
    }

    /// <summary>Claims the value for the open write transaction.</summary>
    /// <exception cref="InvalidOperationException">The value has been put before.</exception>
    /// <exception cref="ObjectDisposedException">The value was disposed.</exception>
    public void Take()
    {
        Engine.AssertWriterHeld();
        if (Move(StagedState.Ready, StagedState.Taken))
            return;
        throw State switch
        {
            StagedState.Taken => new InvalidOperationException(
                "The staged value has been put in this transaction already. Stage it again to put it under another key as well."),
            StagedState.Committed => new InvalidOperationException(
                "The staged value has been put in a transaction that was committed. Stage it again to put it a second time."),
            _ => EndedErrors.StagedValue(),
        };
    }

    /// <summary>Gives the value back, because the transaction is rolled back, as a whole or to a savepoint from before the put.</summary>
    public void Return()
    {
        Engine.AssertWriterHeld();
        if (!Move(StagedState.Taken, StagedState.Ready) && Move(StagedState.TakenAndDisposed, StagedState.Disposed))
            Release();
    }

    /// <summary>Leaves the value to the transaction, which has been submitted. Allocates no memory.</summary>
    public void Commit()
    {
        Engine.AssertWriterHeld();
        if (Move(StagedState.Taken, StagedState.Committed) || Move(StagedState.TakenAndDisposed, StagedState.Committed))
            Release();
    }

    /// <summary>
    /// Gives up the bytes, unless a transaction has taken them: then they stay if it commits. Any thread may call this, at any time.
    /// </summary>
    public void Dispose()
    {
        while (true)
        {
            var state = State;
            if (state is StagedState.TakenAndDisposed or StagedState.Committed or StagedState.Disposed)
                return;
            if (!Move(state, state == StagedState.Taken ? StagedState.TakenAndDisposed : StagedState.Disposed))
                continue;
            if (state != StagedState.Taken)
                Release();
            return;
        }
    }

    private bool Move(StagedState from, StagedState to) => Interlocked.CompareExchange(ref _state, (int)to, (int)from) == (int)from;

    private void Release()
    {
        _closing.Unregister();
        if (Reservation != null)
            _reserved.End(Reservation);
        _bytes = [];
        _checksums = [];
        GC.SuppressFinalize(this);
    }

    // Called by the finalizer, from which an exception would end the process.
    private void ScheduleReport(long bytes)
    {
        try
        {
            ThreadPool.UnsafeQueueUserWorkItem(static leak => leak.Content.Report(leak.Bytes), (Content: this, Bytes: bytes), preferLocal: false);
        }
        catch (OutOfMemoryException)
        {
            // The space is free again nevertheless.
        }
    }

    private void Report(long bytes)
    {
        _closing.Unregister();
        TransactionLog.StageLeaked(Engine.Logger, Engine.Disk.Path, bytes, TransactionLog.Describe(_stagedAt));
    }
}
