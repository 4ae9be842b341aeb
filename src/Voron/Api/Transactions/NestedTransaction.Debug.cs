using System.Diagnostics;

namespace Voron;

/// <content>The nested transaction as a debugger and a log show it.</content>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct NestedTransaction
{
    /// <summary>Describes the transaction by the one around it, or says that it has ended.</summary>
    public override string ToString() => _transaction.Describe("nested transaction", _id);
}
