namespace Voron.Trees;

/// <summary>Compresses new values of trees, and decides which values remain uncompressed.</summary>
internal abstract class ValuePacker
{
    /// <summary>Returns a value in the form to be stored: compressed if that saves enough space.</summary>
    /// <param name="treeId">The id of the tree, whose new values are compressed.</param>
    /// <param name="treePages">The number of its leaves and overflow pages.</param>
    /// <param name="pageSize">The size of a page in bytes.</param>
    /// <param name="keyLength">The length of the key in bytes.</param>
    /// <param name="value">The value. The result refers to it, or to memory that the next call overwrites.</param>
    public abstract NewValue Pack(uint treeId, long treePages, int pageSize, int keyLength, ReadOnlySpan<byte> value);
}
