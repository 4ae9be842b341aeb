namespace Voron.Transactions;

/// <summary>A put that is still reading its stream, as <see cref="PendingPuts"/> sees it.</summary>
internal interface IPendingPut
{
    /// <summary>The id of the tree that the value is put into.</summary>
    uint TreeId { get; }

    /// <summary>The key and the tree, for messages.</summary>
    string Description { get; }

    /// <summary>
    /// Detaches the put from its transaction, whose pages are rolled back together with those of the put. From here on the put touches neither,
    /// and its task fails. Called with the lock of <see cref="PendingPuts"/> held.
    /// </summary>
    void Undo(Exception reason);

    /// <summary>Throws the reason for which the put was undone. Called with the lock of <see cref="PendingPuts"/> held.</summary>
    void ThrowIfUndone();
}
