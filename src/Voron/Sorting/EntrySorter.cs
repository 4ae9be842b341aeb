using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.IO;

namespace Voron.Sorting;

/// <summary>Sorts entries, of a key and a value, in bounded memory: an external merge sort. It knows no trees, pages or transactions.</summary>
/// <remarks>
/// <code>
///   Add ─▶ chunk ── full: sorted by a pool thread ──▶ generation ── half of the memory: merged by a pool thread ──▶ run of the spill file
///   Complete: runs are merged into fewer, until memory suffices to read all of them; the last generation stays in memory
///   SortedEntries ◀── merge of the runs and of the chunks of the last generation
/// </code>
/// 1. Chunks and runs have each key once, and are merged in order of arrival, adjacent ones only. So the rule for duplicates holds across them.
///    Where all entries are kept, those of a key are in order of arrival.
/// 2. Entries that arrive in key order are not sorted: their chunks form one stream, and their generations one run.
/// 3. The spill file has no name, and its space is allocated before it is written. Nothing is left of it, however the process ends.
/// 4. Blocks of the spill file are believed only with the right checksum, and runs only with the right number of entries.
/// 5. The first failure on any thread ends the sort: every later call throws it.
///
/// Used by one thread at a time. All native memory is within <see cref="SortOptions.MemoryBytes"/>, and is freed by <see cref="Dispose"/>, which
/// waits for work on pool threads.
/// </remarks>
internal sealed class EntrySorter : IDisposable
{
    private readonly SortContext _context;
    private readonly RunFile _file;
    private readonly List<SortedRun> _runs = [];
    private readonly GenerationSpill _spill;

    // The generation that is filled: chunks whose sort has begun, the one that is filled, if there is one, and empty ones of an earlier generation.
    private List<SortChunk> _chunks = [];
    private int _closed;
    private SortChunk? _filling;

    private StreamMerger? _merger;
    private bool _isComplete;
    private bool _isDisposed;

    /// <param name="files">Creates the spill file if memory does not suffice; owned by the caller.</param>
    /// <param name="options">How the sort works.</param>
    public EntrySorter(TemporaryFiles files, SortOptions options)
    {
        _context = new SortContext(options);
        _file = new RunFile(_context, files);
        _spill = new GenerationSpill(_context, _file, _runs);
    }

    /// <summary>The length of the longest key that can be added.</summary>
    public int MaxKeyBytes => _context.Sizes.MaxKeyBytes;

    /// <summary>
    /// The length of the longest entry that can be added, key and value together: nearly a sixteenth of the memory, and 4 MiB at most.
    /// </summary>
    public int MaxEntryBytes => _context.Sizes.MaxEntryBytes;

    /// <summary>The bytes that were written to the spill file, those of merged runs included.</summary>
    public long SpilledBytes => _file.Length;

    /// <summary>Adds a copy of an entry.</summary>
    /// <param name="key">The key, not empty.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="ArgumentException">The key is empty, or key or entry are too long.</exception>
    /// <exception cref="DuplicateEntryException">Two earlier entries have the same key, which is refused.</exception>
    /// <exception cref="StorageFullException">The disk has no space for the spill file.</exception>
    /// <exception cref="StorageAccessException">The spill file cannot be created or written.</exception>
    /// <exception cref="OperationCanceledException">The caller has cancelled the sort.</exception>
    /// <exception cref="OutOfMemoryException">There is no memory. The entry was not added.</exception>
    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        RequireAdding();
        _context.Check();
        if (key.IsEmpty || key.Length > MaxKeyBytes || (long)key.Length + value.Length > MaxEntryBytes)
            ThrowUnfit(key.Length, value.Length);
        if (key.Length > _context.LongestKey)
            _context.LongestKey = key.Length;
        if (_filling == null || !_filling.TryAdd(key, value))
        {
            BeginChunk();
            var isAdded = _filling.TryAdd(key, value);
            Debug.Assert(isAdded, "An entry fits into an empty chunk.");
        }
    }

    /// <summary>Ends the adding, and returns the sorted entries, which are valid until the sorter is disposed.</summary>
    /// <exception cref="CorruptionException">The spill file is damaged.</exception>
    /// <inheritdoc cref="Add"/>
    public SortedEntries Complete()
    {
        RequireAdding();
        _context.Check();
        _isComplete = true;
        try
        {
            CloseChunk();
            _spill.Settle();
            _spill.FreeChunks();
            foreach (var chunk in _chunks.Skip(_closed))
                chunk.Dispose();
            _chunks.RemoveRange(_closed, _chunks.Count - _closed);
            foreach (var chunk in _chunks)
                chunk.Settle();
            _context.Chunks.FreeSpare();
            RunMerges.MergeUntilFew(_context, _file, _runs, _chunks.Count);
            var streams = _runs.Select(run => (SortedStream)new RunStream(_context, _file, run)).Concat(ChunkStream.Of(_chunks));
            _merger = new StreamMerger(_context, streams);
            return new SortedEntries(_context, _merger);
        }
        catch (Exception e) when (_context.Fail(e))
        {
            throw;
        }
    }

    public void Dispose()
    {
        if (_isDisposed)
            return;
        _isDisposed = true;

        // Work that is under way ends at its next step.
        _context.Fail(new ObjectDisposedException(nameof(EntrySorter), "The sorter was disposed."));
        _spill.Dispose();
        foreach (var chunk in _chunks)
            chunk.Dispose();
        _merger?.Dispose();
        _file.Dispose();
        _context.Dispose();
    }

    [MemberNotNull(nameof(_filling))]
    private void BeginChunk()
    {
        CloseChunk();
        if (_closed == _context.Sizes.ChunksOfGeneration)
        {
            _spill.Begin(ref _chunks);
            _closed = 0;
        }

        if (_closed == _chunks.Count)
            _chunks.Add(new SortChunk(_context));
        _filling = _chunks[_closed];
    }

    private void CloseChunk()
    {
        if (_filling == null)
            return;
        _filling.BeginSort();
        _filling = null;
        _closed++;
    }

    private void RequireAdding()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        if (_isComplete)
            throw new InvalidOperationException("The sorted entries are being read: no more can be added.");
    }

    private void ThrowUnfit(int keyLength, int valueLength) => throw new ArgumentException(
        $"An entry with a key of {keyLength} bytes and a value of {valueLength} bytes cannot be sorted: a key has 1 to {MaxKeyBytes} bytes, and key " +
        $"and value have at most {MaxEntryBytes} bytes together.");
}
