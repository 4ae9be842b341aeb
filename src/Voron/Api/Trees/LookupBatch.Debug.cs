using System.Diagnostics;
using Voron.Trees;

namespace Voron;

/// <content>The batch as a debugger and a log show it: its keys, which are its own, but no values, which belong to a transaction.</content>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public sealed partial class LookupBatch
{
    private const int MostShown = 256;

    /// <summary>Describes the batch by its number of keys and the tree in which they were looked up.</summary>
    public override string ToString() => $"batch of {Count} keys, {DescribeLookup()}";

    private string DescribeLookup() =>
        _tree is not { } tree ? "not looked up"
        : tree.Generation != _generation ? "looked up in a transaction that has ended"
        : $"{CountFound()} of them found in tree {KeyText.Of(tree.Name)}";

    private int CountFound()
    {
        var (slots, found) = (_slots, 0);
        foreach (var slot in slots.AsSpan(0, Math.Min(Count, slots.Length)))
            found += slot.IsFound ? 1 : 0;
        return found;
    }

    private string DescribeKey(int index)
    {
        var (slots, bytes) = (_slots, _keyBytes);
        if (index >= slots.Length || (long)slots[index].KeyOffset + slots[index].KeyLength > bytes.Length)
            return "";
        var key = KeyText.Of(bytes.AsSpan(slots[index].KeyOffset, slots[index].KeyLength));
        return _tree == null ? key : $"{key} ({(slots[index].IsFound ? "found" : "not found")})";
    }

    private sealed class DebugView(LookupBatch batch)
    {
        public string Lookup => batch.DescribeLookup();

        [DebuggerBrowsable(DebuggerBrowsableState.RootHidden)]
        public string[] Keys
        {
            get
            {
                var keys = new string[Math.Min(batch.Count, MostShown)];
                for (var i = 0; i < keys.Length; i++)
                    keys[i] = batch.DescribeKey(i);
                return keys;
            }
        }
    }
}
