using System.Diagnostics;
using Voron.Tables;

namespace Voron.Documents.Text;

/// <summary>Brings the documents that a collection has into a new text index, in short transactions while others write. It continues where it has ended.</summary>
/// <param name="environment">The environment.</param>
/// <param name="shape">The shape of the collection.</param>
/// <param name="batch">An empty batch.</param>
internal sealed class TextIndexBuild(StorageEnvironment environment, CollectionShape shape, DocumentBatch batch)
{
    private const int BytesPerLook = 64 << 10;
    private const int MaxDocumentsPerStep = 1000;

    private static readonly TimeSpan StepTime = TimeSpan.FromMilliseconds(2);

    private readonly List<long> _numbers = [];

    /// <param name="progress">Receives the number of documents that the call has brought into the index.</param>
    /// <param name="cancellationToken">Ends the call between two steps. The next build continues.</param>
    public async Task RunAsync(IProgress<long>? progress, CancellationToken cancellationToken)
    {
        for (var count = 0L; ;)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var (added, isComplete) = await environment.WriteAsync(this, static (writing, build) => build.Step(writing), cancellationToken).ConfigureAwait(false);
            count += added;
            progress?.Report(count);
            if (isComplete)
                return;
        }
    }

    private (int Added, bool IsComplete) Step(WriteTransaction writing)
    {
        var began = Stopwatch.GetTimestamp();
        var text = shape.Text!;
        if (text.BuiltThrough(writing) is not { } built)
            return (0, true);
        batch.Clear();
        _numbers.Clear();
        var isComplete = true;
        var bytes = 0;
        using (var rows = writing.OpenTable(shape.Definition).Scan(built + 1))
        {
            while (rows.MoveNext())
            {
                var document = rows.Current;
                batch.AddText(document);
                _numbers.Add(rows.RowId);
                bytes += document.Json.Length;
                if (bytes < BytesPerLook && _numbers.Count < MaxDocumentsPerStep)
                    continue;
                bytes = 0;
                if (Stopwatch.GetElapsedTime(began) <= StepTime && _numbers.Count < MaxDocumentsPerStep)
                    continue;
                isComplete = false;
                break;
            }
        }

        if (_numbers.Count > 0)
        {
            text.SetBuiltThrough(writing, _numbers[^1]);
            text.Put(writing, batch, System.Runtime.InteropServices.CollectionsMarshal.AsSpan(_numbers), null);
        }

        if (isComplete)
            text.SetBuiltThrough(writing, null);
        return (_numbers.Count, isComplete);
    }
}
