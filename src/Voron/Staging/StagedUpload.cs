using System.Buffers;
using System.IO.Pipelines;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Staging;

/// <summary>Uploads a value: keeps a small one in memory, and writes a large one to reserved pages as it arrives, without the writer.</summary>
/// <remarks>
/// The reservation belongs to the <see cref="StagedContent"/> from the beginning, so it ends however the upload ends: by success, failure, the
/// closing of the environment, or the garbage collector, once nothing can continue the upload. The environment therefore refers to an upload only
/// weakly. Each step, from one read of the pipe to the next, is self-contained.
/// </remarks>
internal sealed class StagedUpload : IValueSink
{
    /// <summary>The maximum number of bytes to read at once.</summary>
    public const int LargestReadBytes = 64 << 10;

    /// <summary>Small, since there may be thousands of slow uploads, and each keeps its pages until it ends.</summary>
    private const int LeastExtentBytes = 128 << 10;

    private readonly StagingArea _area;
    private readonly StagedContent _content;
    private readonly ValueChunks _chunks;
    private readonly ExtentGrowth _growth;
    private readonly long _knownBytes;

    private StagedUpload(StagingArea area, long knownBytes)
    {
        _area = area;
        _knownBytes = knownBytes;
        _content = area.CreateContent();
        _chunks = new ValueChunks(area.Engine.Options.LargeValueBytes, area.File);
        _growth = new ExtentGrowth(area.Engine.PageSize, LeastExtentBytes);
    }

    /// <summary>Reads a pipe to its end, and completes it.</summary>
    /// <param name="area">The staging area.</param>
    /// <param name="pipe">The pipe.</param>
    /// <param name="knownBytes">The number of bytes that the pipe is known to deliver; 0 when it is not known.</param>
    /// <param name="maxBytes">The maximum length of the value.</param>
    /// <param name="cancellationToken">Cancels the upload.</param>
    /// <returns>The value, ready to be put.</returns>
    public static async ValueTask<StagedContent> RunAsync(
        StagingArea area, PipeReader pipe, long knownBytes, long maxBytes, CancellationToken cancellationToken)
    {
        Exception? failure = null;
        StagedUpload? upload = null;
        try
        {
            upload = new StagedUpload(area, knownBytes);
            upload.EndWithEnvironment(pipe);
            var length = await new ValuePipe(pipe, maxBytes, "source").ReadAllAsync(upload, cancellationToken).ConfigureAwait(false);
            await upload.CompleteAsync(length).ConfigureAwait(false);
            return upload._content;
        }
        catch (Exception e)
        {
            failure = e;
            upload?._content.Dispose();
            if (e is ObjectDisposedException)
                upload?.ThrowIfEnded();
            throw;
        }
        finally
        {
            upload?._chunks.ReturnBuffer();
            await pipe.CompleteAsync(failure).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    /// <exception cref="ObjectDisposedException">The environment was closed.</exception>
    public void ThrowIfEnded()
    {
        if (_area.Engine.Closing.IsCancellationRequested)
            throw EndedErrors.Environment(_area.Engine.Disk.Path, " It was closed during the upload, so the value was not staged.");
    }

    /// <inheritdoc/>
    public async ValueTask TakeAsync(ReadOnlySequence<byte> bytes, long total, bool isLast, CancellationToken cancellationToken)
    {
        _chunks.Prepare(total);
        if (_chunks.IsLarge(total))
            await EnsureRoomAsync(total, cancellationToken).ConfigureAwait(false);
        _chunks.Add(bytes, total, isLast, _content.Reservation?.First ?? 0);

        // The pages must stay reserved until they are written, even if nothing refers to this upload any longer.
        GC.KeepAlive(_content);
    }

    // Without this, a stalled upload would notice the closing only through its source.
    private void EndWithEnvironment(PipeReader pipe)
    {
        var reference = new WeakReference<PipeReader>(pipe);
        _content.EndWith(_area.Engine.Closing.Token.UnsafeRegister(static state => CancelRead((WeakReference<PipeReader>)state!), reference));
    }

    private static void CancelRead(WeakReference<PipeReader> reference)
    {
        if (reference.TryGetTarget(out var pipe))
            ValuePipe.CancelRead(pipe);
    }

    private async ValueTask EnsureRoomAsync(long total, CancellationToken cancellationToken)
    {
        var current = _content.Reservation;
        var needed = _growth.PagesFor(total);
        if (current != null && needed <= current.Pages)
            return;
        var pages = total <= _knownBytes ? _growth.PagesFor(_knownBytes) : _growth.Next(needed, current?.Pages ?? 0);
        var made = await _area.ReserveAsync(current, pages, needed, cancellationToken).ConfigureAwait(false);
        if (current != null && made != current)
            Move(current.First, made);
        _content.Use(made);
    }

    private void Move(long from, FreeSpace.PageReservation target)
    {
        try
        {
            for (var chunk = 0; chunk < _chunks.Count; chunk++)
                _chunks.Move(chunk, from, target.First);
            GC.KeepAlive(_content);
        }
        catch
        {
            _area.End(target);
            throw;
        }
    }

    private async ValueTask CompleteAsync(long length)
    {
        if (!_chunks.IsLarge(length))
        {
            _content.Complete(length, _chunks.SmallValue, []);
            return;
        }

        _content.Trim(_growth.PagesFor(length));
        await _area.Sync.RunAsync().ConfigureAwait(false);
        _content.Complete(length, [], _chunks.Checksums);
    }
}
