using Voron.Format;
using Voron.Salvaging;
using Voron.Simulation.Harness;
using Voron.Torture.Damage;
using Voron.Trees.Pages;

namespace Voron.Torture.Salvaging;

/// <summary>The target of a salvage that keeps everything in memory.</summary>
internal sealed class CollectedTrees : ISalvageTarget
{
    private readonly Dictionary<string, Dictionary<string, byte[]>> _trees = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Dictionary<string, long>> _sets = new(StringComparer.Ordinal);
    private Dictionary<string, byte[]> _tree = [];
    private Dictionary<string, long> _lastIds = [];
    private TreeForm _form;

    /// <summary>The entries of each tree by key, in hexadecimal. For those of an id tree see <see cref="IdEntries"/>.</summary>
    public IReadOnlyDictionary<string, Dictionary<string, byte[]>> Trees => _trees;

    /// <summary>Returns the number of entries of a tree, or of sets.</summary>
    public int CountOf(string tree) =>
        _sets.TryGetValue(tree, out var sets) ? sets.Count : _trees.TryGetValue(tree, out var entries) ? entries.Count : 0;

    public void EnterTree(string name, TreeForm form)
    {
        if (!_trees.TryGetValue(name, out var tree))
            _trees[name] = tree = new Dictionary<string, byte[]>(StringComparer.Ordinal);
        (_tree, _form) = (tree, form);
        if (form.Kind != TreeKind.IdSets)
            return;
        if (!_sets.TryGetValue(name, out var sets))
            _sets[name] = sets = new Dictionary<string, long>(StringComparer.Ordinal);
        _lastIds = sets;
    }

    public bool TryBeginSet(ReadOnlySpan<byte> key) => !_lastIds.ContainsKey(Convert.ToHexString(key));

    public void AddIds(ReadOnlySpan<byte> key, ReadOnlySpan<long> ids, ReadOnlySpan<byte> payloads)
    {
        var text = Convert.ToHexString(key);
        for (var i = 0; i < ids.Length; i++)
        {
            var last = _lastIds.GetValueOrDefault(text, -1);
            BrokenPromiseException.Require(ids[i] > last, $"the set of key {text} gets id {ids[i]} behind {last}");
            _lastIds[text] = ids[i];
            _tree[Convert.ToHexString(IdEntries.Join(key, ids[i]))] = [payloads[i]];
        }
    }

    public bool TryAdd(ReadOnlySpan<byte> key, ValueSource value, out string? fault)
    {
        fault = null;
        var text = Convert.ToHexString(key);
        if (_tree.ContainsKey(text))
            return false;
        if (_form is { Kind: TreeKind.FixedSize, ValueSize: var size } && (value.Length != size || key.Length != ArrayKey.Size))
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
