using Voron.Trees;

namespace Voron.Transactions;

/// <summary>An open tree as the recorder of its changes sees it.</summary>
internal interface IRecordedTree
{
    /// <summary>The name in the catalog.</summary>
    ReadOnlySpan<byte> Name { get; }

    /// <summary>The tree without the waiting puts.</summary>
    TreeState StateAsIs { get; }

    /// <summary>How the changes of the tree are recorded; null until one is.</summary>
    RecordedSource? Recorded { get; set; }
}
