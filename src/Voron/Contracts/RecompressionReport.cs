namespace Voron;

/// <summary>The result of <see cref="StorageEnvironment.RecompressAsync"/>.</summary>
/// <param name="Entries">The number of entries that were examined.</param>
/// <param name="Rewritten">The number of values that were rewritten.</param>
/// <param name="DroppedDictionaries">The number of dictionaries dropped because no value used them any more.</param>
/// <param name="IsTrained">True if the tree received a new dictionary first.</param>
public sealed record RecompressionReport(long Entries, long Rewritten, long DroppedDictionaries, bool IsTrained);
