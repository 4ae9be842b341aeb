using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.IO;

namespace Voron.Recovery;

/// <summary>A file that a window shows.</summary>
internal interface IWindowedFile
{
    /// <summary>The length of the file's whole blocks in bytes.</summary>
    long Length { get; }

    /// <summary>Reads bytes; opens the file if necessary.</summary>
    /// <exception cref="StorageAccessException">The file cannot be read there.</exception>
    void Read(long offset, Span<byte> target);

    /// <summary>Closes the file until it is read again.</summary>
    void Close();
}

/// <summary>The memory through which recovery reads journal files, one file at a time.</summary>
/// <remarks>
/// All files of a recovery share one window, and only the file that it shows is open, so neither memory nor file descriptors grow with
/// the number of files. A window that a large record has widened is freed when its file is left.
/// </remarks>
/// <param name="blocks">The memory for the window.</param>
internal sealed unsafe class RecordWindow(BlockMemory blocks) : IDisposable
{
    private const long MinBytes = 1 << 20;

    private MemoryBlock? _block;
    private byte* _memory;
    private long _capacity;
    private IWindowedFile? _file;
    private long _offset;
    private long _length;

    /// <summary>Returns the bytes of a file at an offset; they stay in place until the next call.</summary>
    /// <exception cref="StorageAccessException">The file cannot be read.</exception>
    // Tests identify windows by this stack frame.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public byte* Load(IWindowedFile file, long offset, long length)
    {
        if (file != _file)
        {
            Leave();
            _file = file;
        }

        if (offset < _offset || offset + length > _offset + _length)
        {
            var wanted = Math.Min(Math.Max(length, MinBytes), file.Length - offset);
            if (wanted > _capacity)
            {
                Free();
                _block = blocks.Allocate((nuint)wanted, JournalFormat.Block);
                _memory = _block.Address;
                _capacity = wanted;
            }

            EngineMemory.Spoil(new Span<byte>(_memory, (int)Math.Min(MinBytes, _length)));
            _length = 0;

            // A span is at most 2 GiB.
            for (var at = 0L; at < wanted; at += MinBytes)
                file.Read(offset + at, new Span<byte>(_memory + at, (int)Math.Min(MinBytes, wanted - at)));
            _offset = offset;
            _length = wanted;
        }

        return _memory + (offset - _offset);
    }

    /// <summary>Closes the file that was read last, and frees memory that only its records needed.</summary>
    public void Leave()
    {
        _file?.Close();
        _file = null;
        _length = 0;
        if (_capacity > MinBytes)
            Free();
    }

    public void Dispose()
    {
        Leave();
        Free();
    }

    private void Free()
    {
        _block?.Dispose();
        _block = null;
        _memory = null;
        _capacity = _length = 0;
    }
}
