using Voron.Primitives;

namespace Voron.Journal;

/// <summary>
/// Makes durable the bytes that the transactions of a batch have written past the journal, while the leader writes the batch. The leader offers
/// the sync before its write and ends it afterwards. Nothing is running while no thread leads.
/// </summary>
/// <param name="listener">Makes the bytes durable.</param>
internal sealed class ExtentSync(IJournalListener listener) : OfferedWork
{
    protected override void Work() => listener.SyncExtents();
}
