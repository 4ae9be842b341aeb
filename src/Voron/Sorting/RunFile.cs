using System.Runtime.ExceptionServices;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Sorting;

/// <summary>The spill file of a sort, which is created when it is first needed, and of which nothing is left when it is disposed.</summary>
/// <remarks>
/// One thread at a time appends; others may read concurrently. Space is allocated before it is written. Written bytes are moved to the device and
/// dropped from the page cache in pieces, concurrently with the next piece, so that the system never holds many of them.
/// </remarks>
internal sealed unsafe class RunFile(SortContext context, TemporaryFiles files) : IDisposable
{
    private const long MinStepBytes = 1 << 20;
    private const long MaxStepBytes = 16 << 20;
    private const long PieceBytes = 4 << 20;

    private readonly long _stepBytes = Math.Clamp(context.Sizes.MemoryBytes / 8, MinStepBytes, MaxStepBytes);
    private DiskFile? _file;
    private WriteBack? _writeBack;
    private long _allocated;
    private long _pieceStart;

    /// <summary>The end of the last block.</summary>
    public long Length { get; private set; }

    /// <summary>Appends bytes, and returns their offset.</summary>
    /// <exception cref="StorageFullException">The disk has no space.</exception>
    /// <exception cref="StorageAccessException">The bytes cannot be written.</exception>
    public long Append(byte* bytes, int length)
    {
        try
        {
            if (_file == null)
            {
                _file = files.Open();
                _writeBack = new WriteBack(_file, context.Options.UsesPool);
            }

            var offset = Length;
            while (offset + length > _allocated)
            {
                _file.Allocate(_allocated, _stepBytes);
                _allocated += _stepBytes;
            }

            _file.Write(offset, new ReadOnlySpan<byte>(bytes, length));
            Length = offset + length;
            if (Length - _pieceStart >= PieceBytes)
            {
                _writeBack!.Begin(_pieceStart, Length - _pieceStart);
                _pieceStart = Length;
            }

            return offset;
        }
        catch (DiskException e)
        {
            throw TemporaryFiles.Failure("The memory of a sort is", e);
        }
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
        _writeBack?.Dispose();
        _file?.Dispose();
    }

    /// <summary>Moves a piece of the file from the page cache to the device.</summary>
    private sealed class WriteBack(DiskFile file, bool usesPool) : OfferedWork, IDisposable
    {
        private long _offset;
        private long _length;
        private bool _isPending;

        /// <summary>Waits for the piece before, and begins another one.</summary>
        /// <exception cref="DiskException">The piece before could not be written.</exception>
        public void Begin(long offset, long length)
        {
            if (_isPending)
            {
                _isPending = false;
                if (End() is { } failure)
                    ExceptionDispatchInfo.Throw(failure);
            }

            (_offset, _length) = (offset, length);
            _isPending = true;
            Offer(usesPool);
        }

        public void Dispose()
        {
            Cancel();
            if (_isPending)
                End();
            _isPending = false;
        }

        protected override void Work()
        {
            if (file.TryWriteBack(_offset, _length))
                file.DropCache();
        }
    }
}
