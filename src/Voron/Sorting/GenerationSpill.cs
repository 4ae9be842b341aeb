using System.Runtime.ExceptionServices;
using Voron.Primitives;

namespace Voron.Sorting;

/// <summary>Merges the chunks of a full generation, and writes their entries to the spill file, while the next generation is filled.</summary>
/// <remarks>While it is under way, the chunks and the list of runs belong to it. It has ended after <see cref="Settle"/>.</remarks>
internal sealed class GenerationSpill(SortContext context, RunFile file, List<SortedRun> runs) : OfferedWork, IDisposable
{
    private List<SortChunk> _chunks = [];
    private bool _isPending;

    /// <summary>Takes the chunks, whose sorts have begun, and leaves those of the generation before, which are empty.</summary>
    public void Begin(ref List<SortChunk> chunks)
    {
        Settle();
        (_chunks, chunks) = (chunks, _chunks);
        _isPending = true;
        Offer(context.Options.UsesPool);
    }

    /// <summary>Waits until the generation before is in the file, or writes it here.</summary>
    /// <exception cref="VoronException">The file cannot be written.</exception>
    public void Settle()
    {
        if (!_isPending)
            return;
        _isPending = false;
        if (End() is { } failure)
            ExceptionDispatchInfo.Throw(failure);
    }

    /// <summary>Frees the chunks, when the work has ended or has been withdrawn.</summary>
    public void Dispose()
    {
        Cancel();
        if (_isPending)
            End();
        _isPending = false;
        FreeChunks();
    }

    /// <summary>Frees the chunks of the generation before.</summary>
    public void FreeChunks()
    {
        foreach (var chunk in _chunks)
            chunk.Dispose();
        _chunks.Clear();
    }

    protected override void Work()
    {
        try
        {
            foreach (var chunk in _chunks)
                chunk.Settle();
            using (var merger = new StreamMerger(context, ChunkStream.Of(_chunks)))
                Write(merger);
            foreach (var chunk in _chunks)
                chunk.Clear();
        }
        catch (Exception e) when (context.Fail(e))
        {
            throw;
        }
    }

    private void Write(StreamMerger merger)
    {
        // A sorted input becomes a single run.
        merger.MoveNext();
        if (runs.Count == 0 || merger.Current.KeySpan.SequenceCompareTo(runs[^1].LastKey) <= 0)
            runs.Add(new SortedRun(file.Length));
        using var writer = new RunWriter(context, file, runs[^1]);
        writer.AddRest(merger);
    }
}
