using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Faults;

/// <summary>The contents after operations of a group commit, which may run in one transaction or in several, once or again.</summary>
/// <remarks>A transaction that was not submitted leaves its id to the next one, which begins with the earlier content.</remarks>
internal sealed class GroupCommitContents(Content initial)
{
    private readonly SortedDictionary<long, Attempted> _attempts = [];

    /// <summary>Returns the content after the transaction that began with the given generation, if that is submitted.</summary>
    public Content After(long generation) => _attempts.LastOrDefault(known => known.Key <= generation).Value?.Content ?? initial;

    /// <summary>Makes random changes, in an operation.</summary>
    public void Run(WriteTransaction writing, Part part, Tape choices)
    {
        var id = writing.TransactionId;
        var generation = writing.Body.Generation;
        foreach ((var earlier, var attempted) in _attempts.ToArray())
        {
            if (earlier != generation && attempted.TransactionId >= id)
                _attempts.Remove(earlier);
        }
        part.Generation = generation;
        var content = new ModelTransaction(writing, After(generation), choices).Change(choices.Next(1, 4)).Content;

        // Waiting puts are applied here: if that fails, the operation fails and leaves nothing.
        writing.CreateSavepoint().Release();
        _attempts[generation] = new Attempted(id, content);
    }

    private sealed record Attempted(long TransactionId, Content Content);

    /// <summary>One operation of a group commit.</summary>
    internal sealed class Part
    {
        /// <summary>
        /// The generation of the transaction in which the operation ran last, greater for each new transaction; 0 before it has run.
        /// </summary>
        public long Generation { get; set; }
    }
}
