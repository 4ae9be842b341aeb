using Voron.IO;

namespace Voron.Sorting;

/// <summary>The spill file of a sort, which is created when it is first needed, and of which nothing is left when it is disposed.</summary>
/// <remarks>
/// One thread at a time appends; others may read concurrently. Offsets, lengths and addresses are multiples of a sector, so that the file bypasses the
/// page cache where the file system permits. Space is allocated before it is written.
/// </remarks>
internal sealed unsafe class RunFile(SortContext context, TemporaryFiles files) : IDisposable
{
    private const long MinStepBytes = 1 << 20;
    private const long MaxStepBytes = 16 << 20;

    private readonly long _stepBytes = Math.Clamp(context.Sizes.MemoryBytes / 8, MinStepBytes, MaxStepBytes);
    private DiskFile? _file;
    private long _allocated;

    /// <summary>The end of the last block.</summary>
    public long Length { get; private set; }

    /// <summary>Appends a block.</summary>
    /// <exception cref="StorageFullException">The disk has no space.</exception>
    /// <exception cref="StorageAccessException">The bytes cannot be written.</exception>
    public void Append(byte* block, int length)
    {
        try
        {
            _file ??= files.Open(DiskAccess.Unbuffered);
            var offset = Length;
            while (offset + length > _allocated)
            {
                _file.Allocate(_allocated, _stepBytes);
                _allocated += _stepBytes;
            }

            _file.Write(offset, new ReadOnlySpan<byte>(block, length));
            Length = offset + length;
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

    public void Dispose() => _file?.Dispose();
}
