using System.Diagnostics.CodeAnalysis;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>
/// A snapshot of the environment: sees everything committed before it began, and nothing after. It takes no lock and never
/// waits, and nobody waits for it.
/// </summary>
/// <remarks>
/// A handle, to be copied freely; dispose one of the copies. May be handed from thread to thread; for use by several threads
/// at once each should begin its own. Spans read through it are valid until it is disposed. Keeping it open for long makes
/// the environment keep old versions of pages.
/// </remarks>
public readonly struct ReadTransaction : IDisposable
{
    private readonly ReadCore _core;
    private readonly long _generation;

    internal ReadTransaction(ReadCore core)
    {
        _core = core;
        _generation = core.Generation;
    }

    /// <summary>The id of the newest transaction that this snapshot sees.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long TransactionId
    {
        get
        {
            Core.ThrowIfEnded(_generation);
            return _core.Snapshot.Id;
        }
    }

    internal ReadCore Core => _core ?? throw new ObjectDisposedException(nameof(ReadTransaction), "The transaction was never begun.");

    /// <summary>Opens a tree.</summary>
    /// <exception cref="KeyNotFoundException">There is no tree of that name in this snapshot.</exception>
    /// <exception cref="ArgumentException">The name is empty or has more than 255 bytes in UTF-8.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public Tree OpenTree(string name) => TryOpenTree(name, out var tree) ? tree : throw TreeNames.Missing(name);

    /// <summary>Opens a tree; false when there is none of that name in this snapshot.</summary>
    /// <inheritdoc cref="OpenTree"/>
    public bool TryOpenTree(string name, out Tree tree)
    {
        Span<byte> buffer = stackalloc byte[TreeLimits.MaxNameBytes];
        var open = Core.OpenTree(_generation, Catalog.Encode(name, buffer));
        tree = open == null ? default : new Tree(open);
        return open != null;
    }

    /// <summary>The names of all trees, in the order of their UTF-8 bytes.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IReadOnlyList<string> GetTreeNames()
    {
        Core.ThrowIfEnded(_generation);
        var mark = _core.Enter();
        try
        {
            _core.ThrowIfEnded(_generation);
            return TreeNames.List(_core);
        }
        finally
        {
            _core.Leave(mark);
        }
    }

    /// <summary>Ends the transaction. Later calls do nothing.</summary>
    /// <exception cref="InvalidOperationException">Another thread is reading in it; it stays open.</exception>
    public void Dispose() => _core?.End(_generation);
}

/// <summary>What read and write transactions say of tree names.</summary>
internal static class TreeNames
{
    public static IReadOnlyList<string> List(TransactionCore core)
    {
        var names = new List<string>();
        var cursor = new TreeCursor();
        cursor.Open(core.Catalog, core.Pages);
        try
        {
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                names.Add(Catalog.Decode(cursor.Key));
        }
        finally
        {
            cursor.Close();
        }

        return names;
    }

    [SuppressMessage("Design", "CA1859", Justification = "An ordinary .NET exception, made in one place.")]
    public static Exception Missing(string name) => new KeyNotFoundException($"There is no tree '{name}'.");
}
