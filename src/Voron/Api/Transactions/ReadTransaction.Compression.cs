using Voron.Format;
using Voron.Trees;

namespace Voron;

/// <content>Compressed values.</content>
public readonly partial struct ReadTransaction
{
    /// <summary>Returns the compression of new values in a tree.</summary>
    /// <param name="name">The name of the tree.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="CorruptionException">The settings of the tree are damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public ValueCompression GetValueCompression(string name)
    {
        _ = GetTreeStatistics(name, out var header);
        return (ValueCompression)GetCompression(header.TreeId).Mode;
    }

    /// <summary>
    /// Counts the compressed values of a tree, and sums their original and their stored sizes. Reads all leaves of the tree, but no value.
    /// </summary>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    /// <exception cref="CorruptionException">The settings, a dictionary or a page of the tree is damaged.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    /// <inheritdoc cref="GetValueCompression"/>
    public CompressionStatistics GetCompressionStatistics(string name, CancellationToken cancellationToken = default) =>
        CountCompression(OpenTree(name), cancellationToken);

    /// <inheritdoc cref="GetCompressionStatistics"/>
    internal CompressionStatistics CountCompression(Tree tree, CancellationToken stop)
    {
        var treeId = tree.Opened.StateAsIs.TreeId;
        var (values, compressed, plainBytes, storedBytes) = (0L, 0L, 0L, 0L);
        using (var cursor = tree.OpenCursor())
        {
            for (; cursor.MoveNext(); values++)
            {
                stop.ThrowIfCancellationRequested();
                if (!cursor.TryGetPackedLengths(out var plain, out var stored))
                    continue;
                compressed++;
                plainBytes += plain;
                storedBytes += stored;
            }
        }

        var (dictionaries, dictionaryBytes) = (0, 0L);
        if (TryFindTree(SystemTree.DictionariesName(treeId, stackalloc byte[SystemTree.DictionariesNameBytes]), out Tree trained))
        {
            foreach (var entry in trained.GetEntries())
            {
                if (entry.Key.SequenceEqual(DictionaryEntry.SettingsKey))
                    continue;
                dictionaries++;
                dictionaryBytes += Math.Max(0, entry.Value.Length - DictionaryEntry.HeaderBytes);
            }
        }

        return new CompressionStatistics(
            (ValueCompression)GetCompression(treeId).Mode, dictionaries, dictionaryBytes, values, compressed, plainBytes, storedBytes);
    }
}
