using Voron.Trees;

namespace Voron.Salvaging;

/// <summary>The new environment of a salvage.</summary>
internal interface ISalvageTarget
{
    /// <summary>False if entries are only to be counted.</summary>
    bool TakesValues => true;

    /// <summary>Creates a tree, or returns to it: the following entries belong to it.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="form">The form of its leaves.</param>
    void EnterTree(string name, TreeForm form);

    /// <summary>Creates an internal tree, or returns to it: the following entries belong to it.</summary>
    /// <param name="name">The name of the tree in the catalog.</param>
    /// <param name="form">The form of its leaves.</param>
    void EnterSystemTree(byte[] name, TreeForm form) => EnterTree(SystemTree.Describe(name), form);

    /// <summary>Adds an entry, unless the tree contains its key.</summary>
    /// <param name="key">The key; that of a fixed-size tree as <see cref="Trees.Pages.ArrayKey"/> has it.</param>
    /// <param name="value">The opened value.</param>
    /// <param name="fault">Null, or a sentence that describes why the value is lost after all.</param>
    /// <returns>False if the tree contains the key.</returns>
    bool TryAdd(ReadOnlySpan<byte> key, ValueSource value, out string? fault);

    /// <summary>Begins a set of ids, unless the tree contains its key.</summary>
    /// <returns>False if the tree contains the key.</returns>
    bool TryBeginSet(ReadOnlySpan<byte> key) => true;

    /// <summary>Adds ids to the set of a key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="ids">The ids in ascending order, above those that have been added.</param>
    /// <param name="payloads">A payload for each.</param>
    void AddIds(ReadOnlySpan<byte> key, ReadOnlySpan<long> ids, ReadOnlySpan<byte> payloads)
    {
    }
}
