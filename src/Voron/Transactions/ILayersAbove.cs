namespace Voron.Transactions;

/// <summary>The layers above the transactions of an environment that is open for writing, as the transactions know them.</summary>
internal interface ILayersAbove
{
    /// <summary>An object that these layers keep for the environment. The engine only carries it.</summary>
    object LayerObject { get; }

    /// <summary>Called by the holder of the writer when a transaction with recorded changes is submitted. Throws nothing.</summary>
    /// <param name="bytes">The number of bytes that were recorded.</param>
    void OnRecorded(long bytes);
}
