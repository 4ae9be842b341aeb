using Voron.Trees;

namespace Voron.Loading;

/// <summary>The exceptions for entries that a bulk load cannot store.</summary>
internal static class LoadErrors
{
    public static InvalidOperationException Duplicate(ReadOnlySpan<byte> key, string tree) => new(
        $"The key {KeyText.Of(key)} comes several times in a bulk load, or is in the tree '{tree}' already, which the option " +
        $"{nameof(BulkLoadOptions.Duplicates)} refuses.");

    public static InvalidOperationException Order(ReadOnlySpan<byte> key, ReadOnlySpan<byte> last, string tree) => new(
        $"The entries for a bulk load of the tree '{tree}' are not in order: the key {KeyText.Of(key)} came after {KeyText.Of(last)}. Leave the " +
        $"option {nameof(BulkLoadOptions.Sorted)} unset to have them sorted.");
}
