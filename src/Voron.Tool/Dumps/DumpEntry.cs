namespace Voron.Tool.Dumps;

/// <summary>An entry of a dump; or a tree, if there is no key.</summary>
/// <param name="Tree">The name of the tree; null if the dump has none.</param>
/// <param name="Key">The key; null for the tree itself.</param>
/// <param name="Value">The value.</param>
/// <param name="Line">The number of its last line.</param>
internal readonly record struct DumpEntry(string? Tree, byte[]? Key, byte[] Value, long Line);
