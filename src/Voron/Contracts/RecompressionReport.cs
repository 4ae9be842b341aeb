namespace Voron;

/// <summary>What <see cref="StorageEnvironment.RecompressAsync"/> has done.</summary>
/// <param name="Entries">The number of entries that were looked at.</param>
/// <param name="Rewritten">The number of values that were rewritten.</param>
/// <param name="DroppedDictionaries">The number of dictionaries that no value named any more.</param>
/// <param name="IsTrained">True if the tree has got a new dictionary first.</param>
public sealed record RecompressionReport(long Entries, long Rewritten, long DroppedDictionaries, bool IsTrained);
