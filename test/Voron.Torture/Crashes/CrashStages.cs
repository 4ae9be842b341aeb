using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>The staged values of a workload, with their bytes in the model: uploaded between transactions, and put by any of them.</summary>
internal sealed class CrashStages : IDisposable
{
    private const int Most = 3;

    private readonly List<(StagedValue Value, ModelValue Bytes)> _all = [];

    /// <summary>Uploads another value, or gives one up.</summary>
    public void Change(StorageEnvironment environment, Tape random)
    {
        _all.RemoveAll(staged => staged.Value.State != StagedValueState.Ready);
        if (_all.Count == Most || (_all.Count > 0 && random.Next(4) == 3))
        {
            var index = random.Next(_all.Count);
            _all[index].Value.Dispose();
            _all.RemoveAt(index);
            return;
        }

        var bytes = new ModelValue(random.Next(), random.Next(4) == 0 ? random.Next(60_000, 300_000) : random.Next(16_384, 40_000));
        using var stream = new MemoryStream(bytes.ToBytes());
        var isKnown = random.Next(2) == 0;
        var upload = isKnown ? environment.StageAsync(stream) : environment.StageAsync(System.IO.Pipelines.PipeReader.Create(stream));
        _all.Add((upload.AsTask().GetAwaiter().GetResult(), bytes));
    }

    /// <summary>Returns a value that can be put, and its bytes; false when there is none.</summary>
    public bool TryChoose(Tape random, out (StagedValue Value, ModelValue Bytes) chosen)
    {
        var ready = _all.Where(staged => staged.Value.State == StagedValueState.Ready).ToList();
        chosen = ready.Count == 0 ? default : ready[random.Next(ready.Count)];
        return ready.Count > 0;
    }

    /// <summary>Gives all values up. Their environment may have been closed.</summary>
    public void Dispose()
    {
        foreach (var (value, _) in _all)
            value.Dispose();
        _all.Clear();
    }
}
