using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using Voron.IO;

namespace Voron.Sorting;

/// <summary>What the parts of a sort share: its memory, its rules, and the reason why it has ended early, if it has.</summary>
/// <remarks>Several threads may call it concurrently.</remarks>
internal sealed class SortContext : IDisposable
{
    private volatile ExceptionDispatchInfo? _failure;

    public SortContext(SortOptions options)
    {
        Options = options;
        Sizes = new SortSizes(Math.Max(options.MemoryBytes, SortSizes.LeastMemoryBytes(options.LongestKeyBytes)));
        Memory = new NativeHeap { Account = options.Account };
        Chunks = new ChunkMemory(Memory, Sizes.ChunkBytes);
    }

    public SortOptions Options { get; }

    public SortSizes Sizes { get; }

    public NativeHeap Memory { get; }

    public ChunkMemory Chunks { get; }

    /// <summary>The length of the longest key so far. Changed by the thread that adds, before it starts work on another one.</summary>
    public int LongestKey { get; set; }

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
