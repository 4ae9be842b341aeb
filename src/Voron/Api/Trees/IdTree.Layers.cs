using System.Runtime.CompilerServices;
using Voron.Transactions;

namespace Voron;

/// <content>What tables need of an open tree besides its sets.</content>
public readonly partial struct IdTree
{
    /// <summary>Returns whether both trees are open in the same transaction.</summary>
    internal bool IsBeside(in Tree other) => Opened.Owner == other.Opened.Owner;

    /// <inheritdoc cref="Tree.RequireOpen"/>
    internal void RequireOpen() => _ = Opened;

    /// <inheritdoc cref="Tree.BeginWalk"/>
    internal void BeginWalk(ChangesAheadOfQuery walk) => Opened.Begin(walk);

    /// <inheritdoc cref="Tree.EndWalk"/>
    internal void EndWalk(ChangesAheadOfQuery walk) => _tree.End(walk);

    /// <inheritdoc cref="OpenTree.NoteEntry"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void NoteEntry(ReadOnlySpan<byte> key, long id, bool wasThere) => Opened.NoteEntry(key, id, wasThere);
}
