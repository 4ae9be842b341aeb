using Voron.Dictionaries;
using Voron.Opening;
using Voron.Transactions;

namespace Voron;

/// <summary>The calls that train dictionaries and recompress trees, and the training in the background.</summary>
internal sealed class DictionaryCalls
{
    private readonly Engine _engine;
    private readonly ReaderPool _readers;
    private readonly WriterEntrance _entrance;
    private readonly LongCalls _calls;
    private readonly string _path;
    private readonly DictionaryTrainer _trainer;

    /// <param name="opened">An environment that is open for writing.</param>
    /// <param name="calls">Runs the calls.</param>
    public DictionaryCalls(OpenedEngine opened, LongCalls calls)
    {
        _engine = opened.Engine;
        _readers = opened.Readers;
        _entrance = opened.Writing!.Entrance;
        _calls = calls;
        _path = _engine.Disk.Path;
        _trainer = new DictionaryTrainer(_engine, _entrance);
        _engine.OnTrainingWanted = _trainer.OnWanted;
    }

    /// <summary>Trains a dictionary for a tree. Returns false if the tree gets no new one.</summary>
    /// <param name="shownName">The name of the tree for messages.</param>
    /// <param name="name">The bytes of its name.</param>
    /// <param name="cancellationToken">Cancels the training.</param>
    public async ValueTask<bool> TrainAsync(string shownName, byte[] name, CancellationToken cancellationToken)
    {
        var treeId = FindPlainTree(shownName, name);
        var call = new LongCall(
            LongWork.Other,
            nameof(StorageEnvironment.TrainDictionaryAsync),
            $"The training of a dictionary for '{shownName}' in '{_path}' was cancelled.",
            " It was closed while a dictionary was trained.",
            $"There is not enough memory to train a dictionary for '{shownName}' in '{_path}': ");
        var outcome = await _calls.RunAsync(call, stop => _trainer.TrainAsync(treeId, stop), cancellationToken).ConfigureAwait(false);
        return outcome.IsInstalled;
    }

    /// <summary>Applies the current compression of a tree to its values.</summary>
    /// <param name="shownName">The name of the tree for messages.</param>
    /// <param name="name">The bytes of its name.</param>
    /// <param name="cancellationToken">Ends the call between two of its transactions.</param>
    public ValueTask<RecompressionReport> RecompressAsync(string shownName, byte[] name, CancellationToken cancellationToken)
    {
        var treeId = FindPlainTree(shownName, name);
        var call = new LongCall(
            LongWork.Other,
            nameof(StorageEnvironment.RecompressAsync),
            $"The recompression of '{shownName}' in '{_path}' was cancelled. Rewritten values stay rewritten.",
            " It was closed during a recompression. Rewritten values stay rewritten.",
            $"There is not enough memory to recompress '{shownName}' in '{_path}': ");
        return _calls.RunAsync(call, stop => RecompressAsync(name, treeId, stop), cancellationToken);
    }

    private async Task<RecompressionReport> RecompressAsync(byte[] name, uint treeId, CancellationToken stop)
    {
        var training = await _trainer.TrainAsync(treeId, stop).ConfigureAwait(false);
        var run = new Recompression(_engine, _entrance, name, treeId);
        await run.RunAsync(stop).ConfigureAwait(false);
        return new RecompressionReport(run.Entries, run.Rewritten, run.Dropped, training.IsInstalled);
    }

    private uint FindPlainTree(string shownName, byte[] name)
    {
        using var reading = new ReadTransaction(_readers.Rent());
        return reading.TryFindTree(name, out Tree tree)
            ? tree.Opened.StateAsIs.TreeId
            : throw new KeyNotFoundException($"There is no tree '{shownName}' in '{_path}' whose values could be compressed.");
    }
}
