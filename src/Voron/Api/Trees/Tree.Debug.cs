using System.Diagnostics;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <content>The tree as a debugger and a log show it, at any moment: nothing here throws, waits, reads a page or applies a put.</content>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public readonly partial struct Tree
{
    /// <summary>Describes the tree by its name and its number of entries, or says that it has ended. Any thread may call this at any time.</summary>
    public override string ToString()
    {
        if (OpenedOrNull is not { } tree)
            return $"tree ({DescribeState()})";
        var waiting = tree.HasWaitingPuts ? ", and puts that wait to be applied" : "";
        return $"tree {KeyText.Of(tree.Name)} with {tree.StateAsIs.EntryCount} entries{waiting}";
    }

    private OpenTree? OpenedOrNull => _tree is { IsDropped: false } tree && tree.Generation == _generation ? tree : null;

    private string DescribeState() =>
        _tree == null ? "never opened"
        : _tree.Generation != _generation ? "ended"
        : _tree.IsDropped ? "deleted"
        : "open";

    private sealed class DebugView(Tree tree)
    {
        public string State => tree.DescribeState();

        /// <summary>Null when the tree is not open, like all properties below.</summary>
        public string? Name => tree.OpenedOrNull is { } opened ? KeyText.Of(opened.Name) : null;

        public bool? HasWaitingPuts => tree.OpenedOrNull?.HasWaitingPuts;

        /// <summary>The numbers of entries and pages, without the waiting puts.</summary>
        public TreeStatistics? Statistics => tree.OpenedOrNull?.StateAsIs is { } state
            ? new TreeStatistics(state.EntryCount, state.Depth, state.LeafPages, state.BranchPages, state.OverflowPages)
            : null;
    }
}
