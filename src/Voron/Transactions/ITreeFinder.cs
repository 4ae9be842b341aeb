namespace Voron.Transactions;

/// <summary>Opens trees of a write transaction by the bytes of their names.</summary>
internal interface ITreeFinder
{
    /// <summary>Opens a tree; null when there is none.</summary>
    TransactionTree? FindTree(ReadOnlySpan<byte> name);
}
