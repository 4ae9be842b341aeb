using Voron.Torture.Crashes;
using Voron.Torture.Harness;

namespace Voron.Torture.Faults;

/// <summary>What merged operations leave, when they are run in one transaction or in several, once or again.</summary>
/// <remarks>A transaction that was not submitted leaves its id to the next one, which begins on what was there before.</remarks>
internal sealed class MergedContents(Content initial)
{
    private readonly SortedDictionary<long, Attempted> _attempts = [];

    /// <summary>What the transaction that was begun with that generation leaves, should it be submitted.</summary>
    public Content After(long generation) => _attempts.LastOrDefault(known => known.Key <= generation).Value?.Content ?? initial;

    /// <summary>Makes random changes, in an operation.</summary>
    public void Run(WriteTransaction writing, Part part, Tape choices)
    {
        long id = writing.TransactionId;
        long generation = writing.Body.Generation;
        foreach ((long earlier, Attempted attempted) in _attempts.ToArray())
        {
            if (earlier != generation && attempted.TransactionId >= id)
                _attempts.Remove(earlier);
        }
        part.Generation = generation;
        Content content = new ModelTransaction(writing, After(generation), choices).Change(choices.Next(1, 4)).Content;

        // Puts that wait are applied here: if that fails, the operation does, and leaves nothing.
        writing.CreateSavepoint().Release();
        _attempts[generation] = new Attempted(id, content);
    }

    private sealed record Attempted(long TransactionId, Content Content);

    /// <summary>An operation.</summary>
    internal sealed class Part
    {
        /// <summary>That of the transaction in which it was run last, greater for each that is begun; 0 before it was run.</summary>
        public long Generation { get; set; }
    }
}
