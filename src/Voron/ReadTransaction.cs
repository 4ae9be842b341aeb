using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>
/// A snapshot of the environment: sees everything committed before it began, and nothing after. It takes no lock and never waits, and no
/// other transaction waits for it.
/// </summary>
/// <remarks>
/// A handle that can be copied freely; dispose one of the copies. It may be passed from thread to thread; for use by several threads at
/// once, each should begin its own. Spans read through it are valid until it is disposed. Keeping it open for long makes the environment
/// keep old versions of pages.
/// </remarks>
public readonly struct ReadTransaction : IDisposable
{
    private readonly ReadTransactionBody _body;
    private readonly long _generation;

    internal ReadTransaction(ReadTransactionBody body)
    {
        _body = body;
        _generation = body.Generation;
    }

    /// <summary>The id of the newest transaction that this snapshot sees.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long TransactionId
    {
        get
        {
            Body.ThrowIfEnded(_generation);
            return _body.Snapshot.Id;
        }
    }

    internal ReadTransactionBody Body => _body ?? throw new ObjectDisposedException(nameof(ReadTransaction), "The transaction was never begun. Use BeginRead to begin one.");

    /// <summary>Opens a tree.</summary>
    /// <exception cref="KeyNotFoundException">There is no tree of that name in this snapshot.</exception>
    /// <exception cref="ArgumentException">The name is empty or has more than 255 bytes in UTF-8.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public Tree OpenTree(string name) => TryOpenTree(name, out var tree) ? tree : throw TreeNames.Missing(_body, name);

    /// <summary>Opens a tree; false when there is none of that name in this snapshot.</summary>
    /// <inheritdoc cref="OpenTree"/>
    public bool TryOpenTree(string name, out Tree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Body.OpenTree(_generation, Catalog.Encode(name, buffer), out var treeGeneration);
        tree = open == null ? default : new Tree(open, treeGeneration);
        return open != null;
    }

    /// <summary>Returns the names of all trees, in the order of their UTF-8 bytes.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IReadOnlyList<string> GetTreeNames()
    {
        Body.ThrowIfEnded(_generation);
        var mark = _body.Enter();
        try
        {
            _body.ThrowIfEnded(_generation);
            return TreeNames.List(_body);
        }
        finally
        {
            _body.Leave(mark);
        }
    }

    /// <summary>Ends the transaction. Later calls do nothing.</summary>
    /// <exception cref="InvalidOperationException">Another thread is reading in it; it stays open.</exception>
    public void Dispose() => _body?.End(_generation);
}
