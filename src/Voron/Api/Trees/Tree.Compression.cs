using Voron.Trees;

namespace Voron;

/// <content>Compressed values.</content>
public readonly partial struct Tree
{
    /// <summary>
    /// Reads the value of a key as <see cref="TryGet(ReadOnlySpan{byte}, out ReadOnlySpan{byte})"/> does, but decompresses it to a buffer of the
    /// caller's, which grows as needed: so the transaction keeps nothing.
    /// </summary>
    internal bool TryGetBriefly(scoped ReadOnlySpan<byte> key, ref byte[] buffer, out ReadOnlySpan<byte> value)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return TreeReader.TryGetBriefly(tree.SettledState(), owner.Pages, key, ref buffer, out value);
        }
        finally
        {
            owner.Leave(mark);
        }
    }
}
