namespace Voron;

/// <content>Compressed values.</content>
public readonly partial struct WriteTransaction
{
    /// <summary>Sets the compression of new values in a tree. Existing values stay unchanged and readable.</summary>
    /// <remarks>
    /// <para>
    /// Each value of 64 bytes to 64 KiB is compressed separately, if that saves an eighth of it. Most of the savings come from a dictionary of common
    /// content, which the environment trains in the background when the tree reaches 1 MiB: see
    /// <see cref="StorageEnvironment.TrainDictionaryAsync"/>. <see cref="StorageEnvironment.RecompressAsync"/> rewrites existing values.
    /// </para>
    /// <para>
    /// Values read as spans are decompressed into memory that the transaction keeps until it ends, up to 64 MiB in total. Cursors and enumerations
    /// keep such memory until their next move, and a <see cref="LookupBatch"/> keeps it until its next lookup. Calls that copy values keep nothing.
    /// </para>
    /// <para>The first call in an environment raises its format: older engines can no longer open it, even if the transaction is rolled back.</para>
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="compression">The compression; <see cref="ValueCompression.None"/> to stop.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="ArgumentOutOfRangeException">There is no such compression.</exception>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, or an earlier operation has failed partway; the transaction can only be rolled back.
    /// </exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">The settings of the tree are damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public void CompressValues(string name, ValueCompression compression)
    {
        CheckCompression(compression, nameof(compression));
        if (!TryOpenTree(name, out var tree))
            throw new KeyNotFoundException($"There is no tree '{name}' in '{DataFilePath}' whose values could be compressed. Create it first.");
        SetCompression(tree, compression);
    }

    /// <summary>Returns the compression of new values in a tree.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    /// <exception cref="CorruptionException">The settings of the tree are damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public ValueCompression GetValueCompression(string name)
    {
        return TryOpenTree(name, out var tree)
            ? GetCompression(tree)
            : throw new KeyNotFoundException($"There is no tree '{name}' in '{DataFilePath}'.");
    }

    /// <exception cref="ArgumentOutOfRangeException">There is no such compression.</exception>
    internal static void CheckCompression(ValueCompression compression, string parameter)
    {
        if (compression is < ValueCompression.None or > ValueCompression.Thorough)
            throw new ArgumentOutOfRangeException(parameter, compression, "Values are compressed with None, Fast or Thorough.");
    }

    /// <summary>Sets the compression of new values in a tree.</summary>
    internal void SetCompression(WriteTree tree, ValueCompression compression) => Body.SetCompression(tree.Opened, compression);

    /// <summary>Returns the compression of new values in a tree.</summary>
    internal ValueCompression GetCompression(WriteTree tree) => (ValueCompression)Body.GetCompression(tree.TreeId).Mode;
}
