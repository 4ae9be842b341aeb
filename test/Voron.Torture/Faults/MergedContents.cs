using Voron.Torture.Crashes;
using Voron.Torture.Harness;

namespace Voron.Torture.Faults;

/// <summary>What merged operations leave, when they are run in one transaction or in several, once or again.</summary>
/// <remarks>A transaction that was not submitted leaves its id to the next one, which begins on what was there before.</remarks>
internal sealed class MergedContents(Content initial)
{
    private readonly SortedDictionary<long, Content> _after = [];
    private long _generation;

    /// <summary>What the transaction of that id leaves.</summary>
    public Content After(long transactionId) => _after.LastOrDefault(known => known.Key <= transactionId).Value ?? initial;

    /// <summary>Makes random changes, in an operation.</summary>
    public void Run(WriteTransaction writing, Part part, Tape choices)
    {
        long id = writing.TransactionId;
        if (writing.Core.Generation != _generation)
            _after.Remove(id);
        _generation = writing.Core.Generation;
        part.TransactionId = id;
        Content content = new ModelTransaction(writing, After(id), choices).Change(choices.Next(1, 4)).Content;

        // Puts that wait are applied here: if that fails, the operation does, and leaves nothing.
        writing.CreateSavepoint().Release();
        _after[id] = content;
    }

    /// <summary>An operation.</summary>
    internal sealed class Part
    {
        /// <summary>The transaction in which it was run last.</summary>
        public long TransactionId { get; set; }
    }
}
