namespace Voron.Transactions;

/// <summary>A tree as <see cref="PutBufferPool"/> sees it: the owner of a buffer for waiting puts.</summary>
internal interface IBufferedTree
{
    /// <summary>True while puts are waiting to be applied.</summary>
    bool HasWaitingPuts { get; }

    /// <summary>Applies the waiting puts.</summary>
    void ApplyPuts();

    /// <summary>Applies the waiting puts before the buffer's mark; the others keep waiting.</summary>
    void ApplyMarkedPuts();

    /// <summary>Discards the waiting puts after the buffer's mark.</summary>
    void DiscardUnmarkedPuts();

    /// <summary>Discards the puts that have not been applied, because they are being rolled back.</summary>
    void DiscardPuts();

    /// <summary>Takes away the put buffer, which may belong to another tree from then on.</summary>
    void TakeBuffer();
}
