using Voron.Dictionaries;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <content>Dictionaries of compressed values.</content>
public sealed partial class StorageEnvironment
{
    private DictionaryTrainer? _trainer;

    /// <summary>
    /// Trains a dictionary from the current values of a tree, and uses it for new values if it saves a twentieth more than the previous dictionary.
    /// </summary>
    /// <remarks>
    /// Unless <see cref="StorageOptions.BackgroundFlush"/> is off, the environment also trains dictionaries in the background: when the tree reaches
    /// 1 MiB, and again when values compress a fifth less than when the dictionary was new. Training reads a thousand values from a snapshot, and
    /// holds the writer only to install the dictionary. A tree can have at most 250 dictionaries over its lifetime.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Cancels the training.</param>
    /// <returns>False if the tree gets no new dictionary: it would save too little, or the tree's values are not compressed.</returns>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <inheritdoc cref="RecompressAsync"/>
    public ValueTask<bool> TrainDictionaryAsync(string name, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable(nameof(TrainDictionaryAsync));
        return TrainNamedAsync(name, Encode(name), cancellationToken);
    }

    /// <summary>
    /// Applies the current compression settings to the existing values of a tree, in short transactions while other callers write: rewrites values
    /// stored before the compression or with older dictionaries, or, if the compression was turned off, all compressed values. First trains a
    /// dictionary, if that is worthwhile.
    /// </summary>
    /// <remarks>
    /// At the end, dictionaries that no value uses any more are dropped. A transaction holds the writer for 2 ms. Change feeds record nothing, since
    /// no value changes. However the call ends, rewritten values stay rewritten, and the next call skips them.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="cancellationToken">Ends the call between two of its transactions.</param>
    /// <returns>A description of what was done.</returns>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">There is no tree of that name.</exception>
    /// <exception cref="CorruptionException">A page or a value of the tree is damaged. The message names it.</exception>
    /// <exception cref="StorageFullException">There is no room.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">
    /// The environment is read-only, the tree is of another kind, or the call was made inside a group-commit operation.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public ValueTask<RecompressionReport> RecompressAsync(string name, CancellationToken cancellationToken = default)
    {
        ThrowIfNotWritable(nameof(RecompressAsync));
        return RecompressNamedAsync(name, Encode(name), cancellationToken);
    }

    /// <inheritdoc cref="RecompressAsync"/>
    internal ValueTask<RecompressionReport> RecompressNamedAsync(string shownName, byte[] name, CancellationToken cancellationToken)
    {
        var treeId = FindPlainTree(shownName, name);
        var call = new LongCall(
            LongWork.Recompression,
            nameof(RecompressAsync),
            $"The recompression of '{shownName}' in '{Path}' was cancelled. What it had rewritten stays so.",
            " It was closed during a recompression. What that had rewritten stays so.",
            $"There is not enough memory to recompress '{shownName}' in '{Path}': ");
        return RunLongAsync(
            call,
            async (_, stop) =>
            {
                var training = await _trainer!.TrainAsync(treeId, stop).ConfigureAwait(false);
                var run = new Recompression(_engine, _writing!.Entrance, name, treeId);
                await run.RunAsync(stop).ConfigureAwait(false);
                return new RecompressionReport(run.Entries, run.Rewritten, run.Dropped, training.IsInstalled);
            },
            isOnOneThread: false, (_, _) => { }, (_, _, _) => { }, cancellationToken);
    }

    private static byte[] Encode(string name) => Catalog.Encode(name, new byte[TreeLimits.MaxNameBytes]).ToArray();

    private async ValueTask<bool> TrainNamedAsync(string shownName, byte[] name, CancellationToken cancellationToken)
    {
        var treeId = FindPlainTree(shownName, name);
        var call = new LongCall(
            LongWork.Recompression,
            nameof(TrainDictionaryAsync),
            $"The training of a dictionary for '{shownName}' in '{Path}' was cancelled.",
            " It was closed while a dictionary was trained.",
            $"There is not enough memory to train a dictionary for '{shownName}' in '{Path}': ");
        var outcome = await RunLongAsync(
            call, async (_, stop) => await _trainer!.TrainAsync(treeId, stop).ConfigureAwait(false), isOnOneThread: false, (_, _) => { },
            (_, _, _) => { }, cancellationToken).ConfigureAwait(false);
        return outcome.IsInstalled;
    }

    private uint FindPlainTree(string shownName, byte[] name)
    {
        using var reading = BeginRead();
        return reading.TryFindTree(name, out Tree tree)
            ? tree.Opened.StateAsIs.TreeId
            : throw new KeyNotFoundException($"There is no tree '{shownName}' in '{Path}' whose values could be compressed.");
    }

    // Called by the constructor, for an environment that can be written.
    private void BeginTraining()
    {
        _trainer = new DictionaryTrainer(_engine, _writing!.Entrance);
        _engine.OnTrainingWanted = _trainer.OnWanted;
    }
}
