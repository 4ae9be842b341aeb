using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.KeyHeads;

namespace Voron.Transactions;

/// <summary>A transaction as its open trees and cursors see it: its pages, its generation, and the mark of the call that is inside it.</summary>
internal abstract class OwningTransaction
{
    private int _isBusy;
    private int _describing;
    private int _sharedInside;
    private bool _isInside;
    private bool _isShared;

    /// <param name="pages">The pages as the transaction sees them.</param>
    /// <param name="keyHeads">The key heads of these pages, which stay the same for all transactions of this object.</param>
    /// <param name="write">The context that its changes go through; null for a read transaction.</param>
    protected OwningTransaction(PageReader pages, TransactionKeyHeads keyHeads, WriteContext? write)
    {
        Pages = pages;
        KeyHeads = keyHeads;
        Write = write;
    }

    /// <summary>The pages as this transaction sees them.</summary>
    public PageReader Pages { get; }

    /// <summary>The key heads of these pages.</summary>
    public TransactionKeyHeads KeyHeads { get; }

    /// <summary>The pages and waiting puts that changes go through; null in a read transaction.</summary>
    public WriteContext? Write { get; }

    /// <summary>Odd while the transaction is open.</summary>
    public long Generation { get; protected set; }

    /// <summary>True while a call reads in this transaction, as far as this thread can see.</summary>
    protected bool IsInside => Volatile.Read(ref _isInside) || Volatile.Read(ref _sharedInside) != 0;

    /// <summary>True while a thread describes the transaction.</summary>
    protected bool IsDescribed => Volatile.Read(ref _describing) != 0;

    /// <summary>True when a second thread has been seen in this transaction.</summary>
    protected bool IsShared => _isShared;

    /// <summary>
    /// Marks that a call reads in this transaction, until <see cref="Leave"/>; the caller checks its handle's generation after that. The mark
    /// also keeps the transaction from becoming garbage during the call.
    /// </summary>
    /// <remarks>
    /// Uses plain loads and stores, on a separate cache line, until a second thread has been seen because it opened something. From then on, it is
    /// certain that only one thread at a time takes the mark. The caller that ends the transaction sees either mark: see
    /// <see cref="ReadTransactionBody.End"/>.
    /// </remarks>
    /// <returns>The argument for <see cref="Leave"/>: which of the two marks was taken.</returns>
    /// <exception cref="InvalidOperationException">Another thread is inside.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Enter()
    {
        if (_isInside || _isShared)
            return EnterShared();
        _isInside = true;
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave(bool isShared)
    {
        if (isShared)
        {
            Debug.Assert(Volatile.Read(ref _sharedInside) == 1, "Only the call that has taken the mark may remove it.");
            Volatile.Write(ref _sharedInside, 0);
        }
        else
        {
            Volatile.Write(ref _isInside, false);
        }
    }

    /// <summary>As <see cref="Enter"/>, for calls that change the transaction's open trees and cursors: never admits two threads.</summary>
    /// <exception cref="InvalidOperationException">Another thread is inside.</exception>
    public virtual bool EnterAlone()
    {
        if (!TryBeBusy())
            ThrowTwoThreads();
        try
        {
            return Enter();
        }
        catch
        {
            NoLongerBusy();
            throw;
        }
    }

    public void LeaveAlone(bool isShared)
    {
        Leave(isShared);
        NoLongerBusy();
    }

    /// <summary>
    /// Keeps the pages of a read transaction while a thread describes it for a debugger or a log, until <see cref="EndDescription"/>; the thread
    /// checks its handle's generation after this call. Unlike reads, descriptions may be made by any thread at any time.
    /// </summary>
    public void BeginDescription() => Interlocked.Increment(ref _describing);

    public void EndDescription() => Interlocked.Decrement(ref _describing);

    /// <summary>Begins or ends the period in which several threads have been seen in the transaction.</summary>
    protected void SetShared(bool isShared)
    {
        if (_isShared == isShared)
            return;
        _isShared = isShared;

        // Every thread sees the change at its next call; a thread that is already inside is seen by its mark.
        if (isShared)
            Interlocked.MemoryBarrierProcessWide();
    }

    private bool EnterShared()
    {
        if (_isInside || Interlocked.CompareExchange(ref _sharedInside, 1, 0) != 0)
            ThrowTwoThreads();
        return true;
    }

    /// <summary>Returns true for one thread at a time: only that thread changes the transaction's open trees and cursors.</summary>
    protected bool TryBeBusy() => Interlocked.Exchange(ref _isBusy, 1) == 0;

    protected void NoLongerBusy()
    {
        Debug.Assert(Volatile.Read(ref _isBusy) == 1, "Only the thread that changes the transaction's trees may end that.");
        Volatile.Write(ref _isBusy, 0);
    }

    public void ThrowIfEnded(long generation)
    {
        if (generation != Generation)
            ThrowEnded();
    }

    [DoesNotReturn]
    protected static void ThrowTwoThreads() =>
        throw new InvalidOperationException("Two threads use the same transaction concurrently. For reading, begin a transaction for each thread.");

    [DoesNotReturn]
    protected static void ThrowEnded() => EndedErrors.ThrowTransaction();
}
