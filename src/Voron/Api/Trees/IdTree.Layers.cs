using System.Runtime.CompilerServices;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>What tables need of an open tree besides its sets.</content>
public readonly partial struct IdTree
{
    /// <summary>Returns whether both trees are open in the same transaction.</summary>
    internal bool IsBeside(in Tree other) => Opened.Owner == other.Opened.Owner;

    /// <inheritdoc cref="Tree.RequireOpen"/>
    internal void RequireOpen() => _ = Opened;

    /// <inheritdoc cref="Tree.Listen"/>
    internal void Listen(IEntryListener listener) => Opened.Listen(listener);

    /// <inheritdoc cref="Tree.StopListening"/>
    internal void StopListening(IEntryListener listener) => _tree.StopListening(listener);

    /// <inheritdoc cref="OpenTree.NoteEntry"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void NoteEntry(ReadOnlySpan<byte> key, long id, bool wasThere) => Opened.NoteEntry(key, id, wasThere);
}
