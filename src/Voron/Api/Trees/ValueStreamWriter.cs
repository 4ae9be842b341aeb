using System.Buffers;
using System.IO.Pipelines;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>Reads a value from a pipe. Stores a small one like any other put, and writes a large one to the data file as it arrives.</summary>
/// <remarks>
/// Between two reads of the pipe, the put is pending: <see cref="UnfinishedPuts"/> describes the rules for its transaction meanwhile.
/// </remarks>
internal sealed class ValueStreamWriter : IUnfinishedPut, IValueSink
{
    /// <summary>The maximum number of bytes to read at a time.</summary>
    public const int LargestReadBytes = 128 << 10;

    private readonly WriteContext _write;
    private readonly OpenTree _tree;
    private readonly ValueBuilder _value = new();
    private readonly long _maxBytes;
    private ReadOnlyMemory<byte> _key;
    private PipeReader? _pipe;
    private Exception? _undone;

    /// <param name="tree">The tree that the value is put into, open for writing.</param>
    /// <param name="generation">The generation of the handle through which the value is put.</param>
    /// <param name="knownBytes">The number of bytes that the pipe claims to deliver; 0 when it is not known.</param>
    /// <param name="maxBytes">The maximum length of the value; smaller in tests.</param>
    public ValueStreamWriter(OpenTree tree, long generation, long knownBytes = 0, long maxBytes = ValuePipe.MaxValueBytes)
    {
        _maxBytes = maxBytes;
        _write = tree.Owner.Write!;
        _tree = tree;
        _value.Begin(tree, generation, _write.Route.ThresholdBytes, knownBytes);
    }

    /// <inheritdoc/>
    public uint TreeId => _tree.StateAsIs.TreeId;

    /// <inheritdoc/>
    public string Activity => $"PutAsync {Description} was reading its stream";

    /// <inheritdoc/>
    public string Obstacle => $"PutAsync {Description} has not completed. Await its task first, or roll back.";

    private string Description => $"of key {KeyText.Of(_key.Span)} in tree '{Catalog.Decode(_tree.Name)}'";

    /// <summary>Reads the pipe to its end, completes it, and sets the value.</summary>
    public async ValueTask<long> PutAsync(ReadOnlyMemory<byte> key, PipeReader pipe, CancellationToken cancellationToken)
    {
        _key = key;
        _pipe = pipe;
        Exception? failure = null;
        try
        {
            _write.OperationSavepoint.Ensure();
            _write.UnfinishedPuts.Add(this);
            var length = await new ValuePipe(pipe, _maxBytes, "value").ReadAllAsync(this, cancellationToken).ConfigureAwait(false);
            Store();
            return length;
        }
        catch (Exception e)
        {
            failure = e;
            Discard();
            throw;
        }
        finally
        {
            _write.UnfinishedPuts.Remove(this);
            _value.End();
            await pipe.CompleteAsync(failure).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public void Undo(Exception reason)
    {
        _write.UnfinishedPuts.Exclusion.AssertHeld();
        _undone = reason;
        _value.Forget();

        // Wakes a put whose stream delivers nothing more.
        ValuePipe.CancelRead(_pipe!);
    }

    /// <inheritdoc/>
    public void ThrowIfUndone()
    {
        _write.UnfinishedPuts.Exclusion.AssertHeld();
        if (_undone != null)
            throw _undone;
    }

    /// <inheritdoc/>
    public void ThrowIfEnded() => _write.UnfinishedPuts.ThrowIfUndone(this);

    /// <inheritdoc/>
    public ValueTask TakeAsync(ReadOnlySequence<byte> bytes, long total, bool isLast, CancellationToken cancellationToken)
    {
        using (_write.UnfinishedPuts.Exclusion.Enter())
        {
            ThrowIfUndone();
            foreach (var segment in bytes)
                _value.Append(segment.Span, total);
        }

        return ValueTask.CompletedTask;
    }

    private void Store()
    {
        using (_write.UnfinishedPuts.Exclusion.Enter())
        {
            ThrowIfUndone();
            _value.Store(_key.Span);
        }
    }

    private void Discard()
    {
        using (_write.UnfinishedPuts.Exclusion.Enter())
        {
            // A put that was undone holds no pages any more.
            if (_undone == null)
                _value.Discard();
        }
    }
}
