using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Dictionaries;

/// <summary>Trains dictionaries for trees whose values are compressed: in the background when one is due, and when a caller requests one.</summary>
/// <remarks>
/// <code>
///   idle ──a commit finds that a tree has 1 MiB and no dictionary, or that the ratio has fallen──▶ sampling (a snapshot) ─▶ building (nothing held)
///    ▲                                                                                                                       │
///    └──another dictionary has come meanwhile, or it saves too little──┴── installed by a transaction of its own ◀───────────┘
/// </code>
/// A writer therefore waits for a transaction that stores one value, and never for the training. Only one training runs at a time.
/// </remarks>
/// <param name="engine">The environment.</param>
/// <param name="entrance">Gives the writer to the transactions.</param>
[SuppressMessage("Design", "CA1001", Justification = "A semaphore without a wait handle needs no disposal.")]
internal sealed class DictionaryTrainer(ReadingEngine engine, WriterEntrance entrance) : IThreadPoolWorkItem
{
    private readonly SemaphoreSlim _oneRun = new(1);
    private readonly Lock _gate = new();
    private readonly HashSet<uint> _wanted = [];
    private bool _isRunning;

    /// <summary>Notes that a tree should get a dictionary. Called by the holder of the writer.</summary>
    public void OnWanted(uint treeId)
    {
        if (!engine.Options.BackgroundFlush)
            return;
        using (Uninterrupted.Hold(_gate))
        {
            if (!_wanted.Add(treeId) || _isRunning)
                return;
            _isRunning = true;
        }

        if (PoolWork.TryQueue(this))
            return;

        // A later commit requests it again.
        using (Uninterrupted.Hold(_gate))
        {
            _wanted.Clear();
            _isRunning = false;
        }
    }

    void IThreadPoolWorkItem.Execute() => _ = RunInBackgroundAsync();

    /// <summary>Trains a dictionary for a tree, and installs it if it is worth it.</summary>
    /// <returns>The outcome.</returns>
    /// <exception cref="CorruptionException">A page that was read is damaged.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public async Task<TrainingOutcome> TrainAsync(uint treeId, CancellationToken stop)
    {
        await _oneRun.WaitAsync(stop).ConfigureAwait(false);
        try
        {
            var began = Stopwatch.GetTimestamp();
            if (Train(treeId, stop) is not { } trained)
                return new TrainingOutcome(IsInstalled: false);
            var duration = Stopwatch.GetElapsedTime(began);
            var isInstalled = false;
            await ShortCommit.RunAsync(
                entrance, body => isInstalled = body.InstallDictionary(treeId, trained), stop).ConfigureAwait(false);
            if (isInstalled)
            {
                var (percent, milliseconds) = (trained.Ratio / 10_000, (long)duration.TotalMilliseconds);
                DictionaryLog.Installed(engine.Logger, trained.Number, treeId, engine.Disk.Path, trained.Bytes.Length, percent, milliseconds);
            }

            return new TrainingOutcome(isInstalled);
        }
        finally
        {
            _oneRun.Release();
        }
    }

    private TrainedDictionary? Train(uint treeId, CancellationToken stop)
    {
        List<byte[]> samples;
        CompressionSettings settings;
        byte[] current = [];
        using (var reading = new EngineSnapshot(engine))
        {
            if (!CompressedTrees.TryFind(reading.Snapshot, treeId, out var tree, out settings) || settings.Mode == 0
                || settings.LastDictionary >= PackedValue.MostDictionaries)
                return null;
            samples = TreeSampler.Take(
                reading.Snapshot, new TreeState(tree), TrainedDictionary.Samples, PackedValue.LeastBytes, TrainedDictionary.LongestSample, stop);

            if (settings.LastDictionary != 0 && reading.Snapshot.Unpacker.Find(treeId, settings.LastDictionary) is { } known)
                current = known.Bytes.ToArray();
        }

        var isThorough = settings.Mode == (byte)ValueCompression.Thorough;
        return TrainedDictionary.TryTrain(settings.LastDictionary + 1, samples, current, isThorough, stop);
    }

    // Never throws.
    private async Task RunInBackgroundAsync()
    {
        while (TryTakeWanted(out var treeId))
        {
            try
            {
                if (!engine.Users.TryAddWork())
                    continue;
                try
                {
                    await TrainAsync(treeId, engine.Closing.Token).ConfigureAwait(false);
                }
                finally
                {
                    engine.Users.RemoveWork();
                }
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
            {
                // The environment is being closed.
            }
            catch (Exception e)
            {
                DictionaryLog.TrainingFailed(engine.Logger, treeId, engine.Disk.Path, e.Message, e);
            }
        }
    }

    private bool TryTakeWanted(out uint treeId)
    {
        using (Uninterrupted.Hold(_gate))
        {
            _isRunning = _wanted.Count > 0;
            treeId = _isRunning ? _wanted.First() : 0;
            _wanted.Remove(treeId);
            return _isRunning;
        }
    }
}

/// <summary>The outcome of a training.</summary>
/// <param name="IsInstalled">True if the tree received a new dictionary.</param>
internal sealed record TrainingOutcome(bool IsInstalled);
