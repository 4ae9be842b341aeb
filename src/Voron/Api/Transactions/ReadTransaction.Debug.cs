using System.Diagnostics;

namespace Voron;

/// <content>The transaction as a debugger and a log show it, at any moment: nothing here throws, waits or changes anything.</content>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public readonly partial struct ReadTransaction
{
    /// <summary>Describes the transaction by its snapshot, or says that it has ended. Any thread may call this at any time.</summary>
    public override string ToString() => OpenId is { } id ? $"read transaction of snapshot {id}" : $"read transaction ({DescribeState()})";

    private long? OpenId
    {
        get
        {
            // Read before the check: an ended transaction may already serve another one.
            var id = _body?.Snapshot.Id;
            return _body?.Generation == _generation ? id : null;
        }
    }

    private string DescribeState() => _body == null ? "never begun" : OpenId == null ? "ended" : "open";

    private sealed class DebugView(ReadTransaction transaction)
    {
        public string State => transaction.DescribeState();

        /// <summary>Null when the transaction is not open.</summary>
        public long? TransactionId => transaction.OpenId;
    }
}
