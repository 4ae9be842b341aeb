using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>A write transaction, or an operation of a group commit in it, as the handles of the public interface refer to it.</summary>
internal readonly struct WriteTransactionHandle
{
    private readonly WriteTransactionBody? _body;
    private readonly long _generation;
    private readonly long _operation;

    public WriteTransactionHandle(WriteTransactionBody body)
    {
        _body = body;
        _generation = body.Generation;
        _operation = body.Operations.Number;
    }

    /// <summary>True for a default value, which belongs to no transaction.</summary>
    public bool IsDefault => _body == null;

    /// <summary>The number of the operation of a group commit; 0 for a transaction that its caller has begun.</summary>
    public long Operation => _operation;

    /// <summary>The body; null if the handle is a default value, or its transaction or operation has ended.</summary>
    public WriteTransactionBody? OpenBody => IsCurrent && _body!.Operations.Number == _operation ? _body : null;

    /// <summary>The body while the transaction is open, even after the operation has returned; otherwise null.</summary>
    public WriteTransactionBody? TransactionBody => IsCurrent ? _body : null;

    /// <summary>The body of a handle that is not a default value.</summary>
    /// <exception cref="ObjectDisposedException">The transaction or the operation has ended.</exception>
    public WriteTransactionBody Body
    {
        get
        {
            var body = _body!;
            body.ThrowIfEnded(_generation);
            if (_operation != body.Operations.Number)
                EndedErrors.ThrowOperation();
            return body;
        }
    }

    /// <summary>Describes a savepoint of the transaction for a debugger or a log. Throws nothing.</summary>
    /// <param name="what">The term for the savepoint in the description.</param>
    /// <param name="savepoint">Its id.</param>
    public string Describe(string what, long savepoint)
    {
        if (IsDefault)
            return $"{what} (never created)";
        return OpenBody is { } body && Has(body, savepoint) ? $"{what} in write transaction {body.WritePages.Id}" : $"{what} (ended)";
    }

    // The list of savepoints belongs to the thread that uses the transaction, and may change while another thread reads it for a log.
    private static bool Has(WriteTransactionBody body, long savepoint)
    {
        try
        {
            return body.HasSavepoint(savepoint);
        }
        catch (ArgumentOutOfRangeException)
        {
            return false;
        }
    }

    private bool IsCurrent => _body != null && _body.Generation == _generation;
}
