using Voron.Trees;

namespace Voron;

/// <content>Compressed values.</content>
public readonly partial struct Tree
{
    /// <summary>
    /// Reads the value of a key like <see cref="TryGet(ReadOnlySpan{byte}, out ReadOnlySpan{byte})"/>, but decompresses it into the caller's buffer,
    /// which grows as needed. The transaction therefore keeps nothing.
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
