namespace Voron.IO.Posix;

/// <summary>How a file system handles an overwritten block.</summary>
internal enum Overwriting
{
    /// <summary>It overwrites the block in place: a file's existing blocks can be overwritten on a full disk.</summary>
    InPlace,

    /// <summary>It writes elsewhere unless the file was marked before its first byte was written (btrfs).</summary>
    ElsewhereUnlessMarked,

    /// <summary>It always writes elsewhere: each overwrite needs free space, and preallocation does not guarantee any.</summary>
    Elsewhere,
}
