using System.Diagnostics;

namespace Voron;

/// <content>The savepoint as a debugger and a log show it.</content>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct Savepoint
{
    /// <summary>Describes the savepoint by its transaction, or says that it has ended.</summary>
    public override string ToString() => _transaction.Describe("savepoint", _id);
}
