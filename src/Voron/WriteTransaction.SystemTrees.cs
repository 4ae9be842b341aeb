using Voron.Dropping;
using Voron.Format;
using Voron.Transactions;

namespace Voron;

/// <content>Trees of the engine's own, by the bytes of their names.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>The path of the data file, for messages.</summary>
    internal string DataFilePath => Body.WritePages.FilePath;

    /// <summary>The maximum length of a key in bytes.</summary>
    internal int MaxKeyLength => Trees.Pages.TreeLimits.MaxKeyLength(Body.WritePages.PageSize);

    /// <summary>Opens a tree by the bytes of its name, or creates it when there is none of that name.</summary>
    internal OpenTree CreateSystemTree(ReadOnlySpan<byte> name, TreeKind kind) => Body.CreateTree(name, kind);

    /// <summary>Opens a system tree; null when there is none of that name.</summary>
    internal OpenTree? FindSystemTree(ReadOnlySpan<byte> name, TreeKind kind) => Body.OpenTree(name, kind);

    /// <summary>Deletes a system tree, and frees its pages.</summary>
    internal bool DeleteSystemTree(ReadOnlySpan<byte> name) => Body.DeleteTree(name);

    /// <summary>Takes its name from a system tree. Its pages are freed at once if they are few; otherwise the environment has to free them.</summary>
    /// <returns>True if pages are left, to be freed in the background after the commit.</returns>
    internal bool DropSystemTree(ReadOnlySpan<byte> name) => Body.DropTree(name, DropPace.PagesAtOnce).HasPages;
}
