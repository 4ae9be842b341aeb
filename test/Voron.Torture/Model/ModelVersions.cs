namespace Voron.Torture.Model;

/// <summary>The state of the model after each of the last transactions.</summary>
internal sealed class ModelVersions
{
    private const int MaxVersions = 200;

    private readonly Dictionary<long, ModelState> _states = [];

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
        if (transaction.TransactionId < Acknowledged || !_states.TryGetValue(transaction.TransactionId, out var state))
            throw new ModelMismatchException($"a reader sees transaction {transaction.TransactionId}, and {Acknowledged} has been acknowledged");
        return new ModelReader(transaction, state);
    }
}
