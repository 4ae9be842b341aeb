using Voron.Primitives;

namespace Voron.Journal;

/// <summary>
/// Makes durable what the transactions of a batch have written past the journal, while the leader writes the batch. The leader offers the
/// sync before its write and ends it after that. Nothing is under way while no thread leads.
/// </summary>
/// <param name="listener">Makes the bytes durable.</param>
internal sealed class ExtentSync(IJournalListener listener) : OfferedWork
{
    protected override void Work() => listener.SyncExtents();
}
