using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Scratch;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>The parts of an open environment that transactions, the flusher and maintenance share.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A source of tokens without timers and wait handles needs no disposal, and its tokens outlive the environment.")]
internal sealed class Engine
{
    public required StorageOptions Options { get; init; }

    public required ILogger Logger { get; init; }

    /// <summary>The user's observers.</summary>
    public required Observers Observers { get; init; }

    /// <summary>Cancelled when closing begins: from then on the writer is not waited for. Never disposed; it holds nothing.</summary>
    public CancellationTokenSource Closing { get; } = new();

    /// <summary>Who uses the memory and files of the environment.</summary>
    public EnvironmentUsers Users { get; } = new();

    public required IDisk Disk { get; init; }

    public required PoisonState Poison { get; init; }

    public required UInt128 EnvironmentId { get; init; }

    public required int PageSize { get; init; }

    public required SectionMapLayout Layout { get; init; }

    public required DataFile DataFile { get; init; }

    public required VersionTable Versions { get; init; }

    /// <summary>For the holder of the writer.</summary>
    public required BranchKeyHeads BranchKeyHeads { get; init; }

    /// <summary>For all who read; null when switched off.</summary>
    public required DataFileKeyHeads? DataFileKeyHeads { get; init; }

    public required FrameAllocator Frames { get; init; }

    /// <summary>
    /// Bytes that unflushed versions of pages take, their nodes included: a page that was freed has nothing else. Read without the writer.
    /// </summary>
    public long VersionBytes => Frames.UsedBytes + Versions.NodeCount * VersionNode.Size;

    public required StateRing Ring { get; init; }

    public required ReaderTable Readers { get; init; }

    /// <summary>Null when the environment is opened for reading only.</summary>
    public JournalWriter? Journal { get; set; }

    public JournalFileSet? JournalFiles { get; set; }

    /// <summary>Null when there is no writer: while the environment is being opened, and when that is for reading only.</summary>
    public Writer? Writer { get; set; }

    /// <summary>What flushing does for those who write; null when the environment is opened for reading only.</summary>
    public IBackPressure? BackPressure { get; set; }

    /// <summary>Memory of lists that grow with what is unflushed.</summary>
    public NativeHeap Heap { get; } = new();

    public Counters Counters { get; } = new();

    /// <summary>The slot of the flusher in <see cref="Readers"/>, scanned last; -1 without one.</summary>
    public int FlusherSlot { get; set; } = -1;

    /// <inheritdoc cref="Transactions.Writer.AssertHeld"/>
    [Conditional("DEBUG")]
    public void AssertWriterHeld() => Writer?.AssertHeld();
}
