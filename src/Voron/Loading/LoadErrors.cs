using Voron.Trees;

namespace Voron.Loading;

/// <summary>The exceptions for entries that a bulk load cannot store.</summary>
internal static class LoadErrors
{
    /// <param name="key">The key.</param>
    /// <param name="target">What is loaded: the kind and the name.</param>
    public static InvalidOperationException Duplicate(ReadOnlySpan<byte> key, string target) => new(
        $"The key {KeyText.Of(key)} comes several times in a bulk load, or is in the {target} already, which the option " +
        $"{nameof(BulkLoadOptions.Duplicates)} refuses.");

    /// <inheritdoc cref="Duplicate"/>
    public static InvalidOperationException Order(ReadOnlySpan<byte> key, ReadOnlySpan<byte> last, string target) => new(
        $"The entries for a bulk load of the {target} are not in order: the key {KeyText.Of(key)} came after {KeyText.Of(last)}. Leave the " +
        $"option {nameof(BulkLoadOptions.Sorted)} unset to have them sorted.");

    /// <inheritdoc cref="Duplicate"/>
    public static InvalidOperationException Replaced(string target) => new(
        $"The {target} was deleted, renamed or replaced while entries were loaded into it. The entries loaded so far went with it, and the others were " +
        "not stored. Load again.");

    /// <inheritdoc cref="Duplicate"/>
    public static InvalidOperationException Changed(string target, string path) => new(
        $"The {target} of '{path}' has been changed while entries were loaded into it, so nothing was loaded. Load again: entries are then added " +
        "to those that it has.");
}
