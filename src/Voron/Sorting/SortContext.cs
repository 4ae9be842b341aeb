using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using Voron.IO;

namespace Voron.Sorting;

/// <summary>What the parts of a sort share: its memory, its rules, and the reason why it has ended early, if it has.</summary>
/// <remarks>Several threads may call it concurrently.</remarks>
internal sealed unsafe class SortContext(SortOptions options) : IDisposable
{
    private const nuint LargePageBytes = 2 << 20;

    private volatile ExceptionDispatchInfo? _failure;

    public SortOptions Options { get; } = options;

    public SortSizes Sizes { get; } = new(options.MemoryBytes);

    public NativeHeap Memory { get; } = new() { Account = options.Account };

    public SpareChunk Spare { get; } = new();

    /// <summary>The length of the longest key so far. Changed by the thread that adds, before it starts work on another one.</summary>
    public int LongestKey { get; set; }

    /// <summary>Allocates the memory of a chunk.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public byte* AllocateChunk()
    {
        var bytes = (nuint)Sizes.ChunkBytes;
        var chunk = (byte*)Memory.Resize(null, bytes);
        var inPage = (nuint)chunk & ((nuint)Environment.SystemPageSize - 1);
        if (bytes >= LargePageBytes)
            MemoryAdvice.PreferLargePages(chunk - inPage, bytes + inPage);
        return chunk;
    }

    /// <summary>Throws if the sort has failed or was cancelled.</summary>
    /// <exception cref="OperationCanceledException">The caller has cancelled the sort.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Check()
    {
        Options.Cancellation.ThrowIfCancellationRequested();
        _failure?.Throw();
    }

    /// <summary>Records the first failure, which every later call then throws. Returns false, for exception filters.</summary>
    public bool Fail(Exception e)
    {
        _failure ??= ExceptionDispatchInfo.Capture(e);
        return false;
    }

    public void Dispose() => Memory.Dispose();
}
