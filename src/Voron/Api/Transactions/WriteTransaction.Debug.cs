using System.Diagnostics;

namespace Voron;

/// <content>The transaction as a debugger and a log show it, at any moment: nothing here throws, waits or changes anything.</content>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public readonly partial struct WriteTransaction
{
    /// <summary>Describes the transaction by its id and its state. Any thread may call this at any time.</summary>
    public override string ToString() => _handle.OpenBody is { } body
        ? $"write transaction {body.WritePages.Id}{(body.Context.IsBroken ? " (broken: it can only be rolled back)" : "")}"
        : $"write transaction ({DescribeState()})";

    private string DescribeState() =>
        _handle.IsDefault ? "never begun"
        : _handle.OpenBody is { } body ? (body.Context.IsBroken ? "broken" : "open")
        : _handle.TransactionBody != null ? "its operation has returned"
        : "ended";

    private sealed class DebugView(WriteTransaction transaction)
    {
        public string State => transaction.DescribeState();

        /// <summary>Null when the transaction is not open, like all properties below.</summary>
        public long? TransactionId => transaction._handle.OpenBody?.WritePages.Id;

        public long? ChangedBytes => transaction._handle.OpenBody?.WritePages.ChangedBytes;

        public bool? IsGroupCommit => transaction._handle.OpenBody is { } body ? body.Operations.Number != 0 : null;

        public Exception? BrokenBy => transaction._handle.OpenBody?.Context.BrokenBy;
    }
}
