using System.Runtime.ExceptionServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Sorting;

/// <summary>The spill file of a sort, which is created when it is first needed, and of which nothing is left when it is disposed.</summary>
/// <remarks>
/// One thread at a time appends; others may read concurrently. Offsets, lengths and addresses are multiples of a sector, so that the file bypasses
/// the page cache where the file system permits. Space is allocated before it is written. Each block is written while the next one is filled.
/// </remarks>
internal sealed unsafe class RunFile(SortContext context, TemporaryFiles files) : OfferedWork, IDisposable
{
    private const long MinStepBytes = 1 << 20;
    private const long MaxStepBytes = 16 << 20;

    private readonly long _stepBytes = Math.Clamp(context.Sizes.MemoryBytes / 8, MinStepBytes, MaxStepBytes);
    private DiskFile? _file;
    private long _allocated;

    // The block that is written.
    private byte* _block;
    private int _blockBytes;
    private bool _isPending;

    /// <summary>The end of the last block.</summary>
    public long Length { get; private set; }

    /// <summary>
    /// Begins to append a block, which must not change before the next call of this method, of <see cref="Settle"/> or of <see cref="Stop"/>.
    /// </summary>
    /// <inheritdoc cref="Settle"/>
    public void Append(byte* block, int length)
    {
        Settle();
        try
        {
            _file ??= files.Open(DiskAccess.Unbuffered);
            while (Length + length > _allocated)
            {
                _file.Allocate(_allocated, _stepBytes);
                _allocated += _stepBytes;
            }
        }
        catch (DiskException e)
        {
            throw TemporaryFiles.Failure("The memory of a sort is", e);
        }

        _block = block;
        _blockBytes = length;
        Length += length;
        _isPending = true;
        Offer(context.Options.UsesPool);
    }

    /// <summary>Waits until the last block is written.</summary>
    /// <exception cref="StorageFullException">The disk has no space.</exception>
    /// <exception cref="StorageAccessException">The block cannot be written.</exception>
    public void Settle()
    {
        if (!_isPending)
            return;
        _isPending = false;
        var failure = End();
        if (failure is DiskException e)
            throw TemporaryFiles.Failure("The memory of a sort is", e);
        if (failure != null)
            ExceptionDispatchInfo.Throw(failure);
    }

    /// <summary>Waits until the last block is written or its write has failed, or withdraws it.</summary>
    public void Stop()
    {
        Cancel();
        if (_isPending)
            End();
        _isPending = false;
    }

    /// <summary>Fills a buffer.</summary>
    /// <exception cref="CorruptionException">The file ends too early.</exception>
    /// <exception cref="StorageAccessException">The bytes cannot be read.</exception>
    public void Read(long offset, byte* target, int length)
    {
        try
        {
            _file!.Read(offset, new Span<byte>(target, length));
        }
        catch (DiskException e) when (e.Error == DiskError.EndOfFile)
        {
            throw new CorruptionException($"The spill file of a sort has been cut: {e.Message}", e);
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Sorted entries cannot be read back from their spill file: {e.Message}", e);
        }
    }

    /// <summary>Returns the space of a run that has been merged into another one.</summary>
    public void Free(SortedRun run)
    {
        try
        {
            _file!.TryPunchHole(run.Offset, run.End - run.Offset);
        }
        catch (DiskException)
        {
            // The blocks are freed with the file.
        }
    }

    public void Dispose()
    {
        Stop();
        _file?.Dispose();
    }

    protected override void Work() => _file!.Write(Length - _blockBytes, new ReadOnlySpan<byte>(_block, _blockBytes));
}
