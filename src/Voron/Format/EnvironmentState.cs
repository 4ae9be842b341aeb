using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>
/// The state that a transaction leaves in addition to its pages: carried in its journal record and in the checkpoint header.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct EnvironmentState
{
    public const int Size = 104;

    /// <summary>The transaction whose state this is; 0 for an environment that has just been created.</summary>
    [FieldOffset(0)]
    public long TransactionId;

    /// <summary>
    /// The number of pages, used or free, below the high-water mark: numbers 0 to PageCount - 1 have a bit in a section map.
    /// </summary>
    [FieldOffset(8)]
    public long PageCount;

    /// <summary>The id of the next new tree.</summary>
    [FieldOffset(16)]
    public uint NextTreeId;

    // 20 to 23: zero.

    /// <summary>The tree of trees: name to <see cref="TreeHeader"/>.</summary>
    [FieldOffset(24)]
    public TreeHeader Catalog;

    // 88 to 103: zero.
}
