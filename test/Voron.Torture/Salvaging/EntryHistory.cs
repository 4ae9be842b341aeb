using System.Runtime.CompilerServices;
using Voron.Torture.Damage;

namespace Voron.Torture.Salvaging;

/// <summary>All values that the keys of a store have had, in the states whose content is known.</summary>
internal sealed class EntryHistory
{
    private static readonly ConditionalWeakTable<StoreImage, EntryHistory> Histories = [];

    private readonly ILookup<(string? Tree, string Key), byte[]> _values;

    private EntryHistory(StoreImage image) => _values = image.Contents.Values
        .SelectMany(content => content.Trees)
        .SelectMany(tree => tree.Entries, (tree, entry) => (tree.Tree, Key: Convert.ToHexString(entry.Key), entry.Value))
        .SelectMany(entry => new[] { (Place: ((string?)entry.Tree, entry.Key), entry.Value), (Place: (null, entry.Key), entry.Value) })
        .ToLookup(entry => entry.Place, entry => entry.Value);

    public static EntryHistory Of(StoreImage image) => Histories.GetValue(image, static made => new EntryHistory(made));

    /// <summary>Returns the values of a key.</summary>
    /// <param name="tree">The name of its tree; null for any tree.</param>
    /// <param name="key">The key in hexadecimal.</param>
    public IEnumerable<byte[]> ValuesOf(string? tree, string key) => _values[(tree, key)];
}
