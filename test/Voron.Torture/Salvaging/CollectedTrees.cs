using Voron.Format;
using Voron.Salvaging;
using Voron.Torture.Harness;
using Voron.Trees.Arrays;

namespace Voron.Torture.Salvaging;

/// <summary>The target of a salvage that keeps everything in memory.</summary>
internal sealed class CollectedTrees : ISalvageTarget
{
    private readonly Dictionary<string, Dictionary<string, byte[]>> _trees = new(StringComparer.Ordinal);
    private Dictionary<string, byte[]> _tree = [];
    private TreeForm _form;

    /// <summary>The entries of each tree by key, in hexadecimal.</summary>
    public IReadOnlyDictionary<string, Dictionary<string, byte[]>> Trees => _trees;

    public void EnterTree(string name, TreeForm form)
    {
        if (!_trees.TryGetValue(name, out var tree))
            _trees[name] = tree = new Dictionary<string, byte[]>(StringComparer.Ordinal);
        (_tree, _form) = (tree, form);
    }

    public bool TryAdd(ReadOnlySpan<byte> key, ValueSource value, out string? fault)
    {
        fault = null;
        var text = Convert.ToHexString(key);
        if (_tree.ContainsKey(text))
            return false;
        if (_form is { Kind: TreeKind.Array, ValueSize: var size } && (value.Length != size || key.Length != ArrayKey.Size))
            throw new BrokenPromiseException($"an entry of a fixed-size tree has a key of {key.Length} bytes and a value of {value.Length}, not {size}");
        var bytes = new byte[value.Length];
        for (var at = 0; at < bytes.Length && fault == null; at += ValueSource.PieceBytes)
        {
            fault = value.TryRead(at, out var piece);
            if (fault == null)
                piece.CopyTo(bytes.AsSpan(at));
        }

        if (fault == null)
            _tree[text] = bytes;
        return true;
    }
}
