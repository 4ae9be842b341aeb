namespace Voron.Torture.Model;

/// <summary>The state of the model after each of the last transactions.</summary>
internal sealed class ModelVersions
{
    private const int MaxVersions = 200;

    private readonly Dictionary<long, ModelState> _states = [];

    /// <summary>True if transactions of the engine's own, which change no tree that has a name, come between the others.</summary>
    public bool HasOthers { get; init; }

    public ModelState Newest { get; private set; } = ModelState.Empty;

    public long NewestId => _states.Keys.Max();

    /// <summary>The newest transaction that is known to be committed.</summary>
    public long Acknowledged { get; private set; }

    public void Acknowledge(long id) => Acknowledged = id;

    /// <summary>Adds a transaction that changes nothing.</summary>
    public void Add(long id) => _states[id] = Newest;

    public void Add(long id, ModelState state)
    {
        Newest = state;
        _states[id] = state;
        _states.Remove(id - MaxVersions);
    }

    /// <summary>Begins again with the newest state, after an opening.</summary>
    public void Restart(long id)
    {
        _states.Clear();
        Add(id);
        Acknowledge(id);
    }

    /// <exception cref="ModelMismatchException">The reader does not see one of the versions from the acknowledged one on.</exception>
    public ModelReader BeginRead(StorageEnvironment environment, ModelHistory history)
    {
        var transaction = environment.BeginRead();
        history.Note($"begin to read {transaction.TransactionId}");
        if (transaction.TransactionId < Acknowledged || StateAt(transaction.TransactionId) is not { } state)
            throw new ModelMismatchException($"a reader sees transaction {transaction.TransactionId}, and {Acknowledged} has been acknowledged");
        return new ModelReader(transaction, state);
    }

    private ModelState? StateAt(long id)
    {
        if (_states.TryGetValue(id, out var state) || !HasOthers)
            return state;
        var known = _states.Keys.Where(other => other < id).DefaultIfEmpty(-1).Max();
        return known < 0 ? null : _states[known];
    }
}
