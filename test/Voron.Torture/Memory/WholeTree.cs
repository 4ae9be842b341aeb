using Voron.Simulation.Harness;

namespace Voron.Torture.Memory;

/// <summary>A tree that is written as a whole: its content as of each transaction depends on which transaction wrote it last.</summary>
internal abstract class WholeTree
{
    private readonly List<long> _changes = [];

    /// <summary>Writes all of the tree.</summary>
    public abstract void Change(WriteTransaction writing);

    /// <summary>Records that a transaction which has changed the tree is committed.</summary>
    public void Changed(long id) => _changes.Add(id);

    /// <exception cref="BrokenPromiseException">
    /// The tree differs from the state after the last transaction that the reader may see.
    /// </exception>
    public void Check(ReadTransaction reading, string who) =>
        Check(reading, _changes.FindLast(id => id <= reading.TransactionId), $"{who} at transaction {reading.TransactionId}");

    /// <param name="reading">The reader.</param>
    /// <param name="by">The transaction that wrote the tree last; 0 for none.</param>
    /// <param name="who">The reader, for messages.</param>
    protected abstract void Check(ReadTransaction reading, long by, string who);
}
