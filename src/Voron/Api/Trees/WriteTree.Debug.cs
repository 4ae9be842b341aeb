using System.Diagnostics;

namespace Voron;

/// <content>The tree as a debugger and a log show it.</content>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct WriteTree
{
    /// <inheritdoc cref="Tree.ToString"/>
    public override string ToString() => _tree.ToString();
}
