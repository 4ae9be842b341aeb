namespace Voron.Transactions;

/// <summary>A put whose value has not arrived in full, as <see cref="UnfinishedPuts"/> sees it: one that reads a stream, or an open writer.</summary>
internal interface IUnfinishedPut
{
    /// <summary>The id of the tree that the value is put into.</summary>
    uint TreeId { get; }

    /// <summary>A clause for messages: the put's activity.</summary>
    string Activity { get; }

    /// <summary>A clause for messages: the reason why it prevents a call, and a sentence with the remedy.</summary>
    string Obstacle { get; }

    /// <summary>
    /// Detaches the put from its transaction, whose pages are rolled back together with those of the put. From here on the put touches neither,
    /// and fails. Called with the lock of <see cref="UnfinishedPuts"/> held.
    /// </summary>
    void Undo(Exception reason);

    /// <summary>Throws the reason for which the put was undone. Called with the lock of <see cref="UnfinishedPuts"/> held.</summary>
    void ThrowIfUndone();
}
