using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>The puts of the open write transaction whose values have not arrived in full: those that read streams, and open writers.</summary>
/// <remarks>
/// A pending put holds pages that no tree refers to yet. Therefore
/// 1. a commit and the release of a savepoint are refused, because the pages would be in use forever if the put failed later;
/// 2. a savepoint is not created, because a rollback to it would take away some of the put's pages;
/// 3. the tree that is being written to is not deleted;
/// 4. a rollback or a disposal ends the put first: its pages are rolled back with the rest, and it fails.
/// A put continues on the thread on which its stream completes. All its work in the transaction, and any call that ends the put, is done
/// with <see cref="Exclusion"/> held, which is never held while a stream is read.
/// </remarks>
internal sealed class UnfinishedPuts
{
    private readonly List<IUnfinishedPut> _puts = [];
    private int _count;

    /// <summary>Held by a put while it works in the transaction.</summary>
    public EngineLock Exclusion { get; } = new(LockRank.StreamPuts);

    public void Add(IUnfinishedPut put)
    {
        using (Exclusion.Enter())
        {
            _puts.Add(put);
            Volatile.Write(ref _count, _puts.Count);
        }
    }

    public void Remove(IUnfinishedPut put)
    {
        using (Exclusion.Enter())
        {
            _puts.Remove(put);
            Volatile.Write(ref _count, _puts.Count);
        }
    }

    /// <exception cref="InvalidOperationException">The put was undone by a rollback to a savepoint.</exception>
    /// <exception cref="ObjectDisposedException">The transaction of the put has ended.</exception>
    public void ThrowIfUndone(IUnfinishedPut put)
    {
        using (Exclusion.Enter())
            put.ThrowIfUndone();
    }

    /// <summary>Refuses a call that a pending put would not survive.</summary>
    /// <param name="call">The call, for the message.</param>
    /// <param name="treeId">The id of the tree whose puts count; null for all trees.</param>
    /// <exception cref="InvalidOperationException">A put is pending.</exception>
    public void ThrowIfAny(string call, uint? treeId = null)
    {
        if (Volatile.Read(ref _count) == 0 || PlantedFault.ForgetPendingPuts)
            return;
        using (Exclusion.Enter())
        {
            foreach (var put in _puts)
            {
                if (treeId == null || put.TreeId == treeId)
                {
                    throw new InvalidOperationException($"{call} is not possible yet: {put.Obstacle}");
                }
            }
        }
    }

    /// <summary>Ends all puts, because the transaction is being rolled back to a savepoint or as a whole.</summary>
    public void Undo(bool toSavepoint)
    {
        if (Volatile.Read(ref _count) == 0 || PlantedFault.ForgetPendingPuts)
            return;
        using (Exclusion.Enter())
        {
            foreach (var put in _puts)
            {
                put.Undo(toSavepoint
                    ? new InvalidOperationException(
                        $"The transaction was rolled back to a savepoint while {put.Activity}: the value was not stored.")
                    : EndedErrors.Transaction($" {put.Activity}: the value was not stored."));
            }

            _puts.Clear();
            Volatile.Write(ref _count, 0);
        }
    }
}
