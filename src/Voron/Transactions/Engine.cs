using Voron.ChangeTracking;
using Voron.FreeSpace;
using Voron.Journal;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>An open engine with the parts that write: journal, change log, writer, and the services of flushing.</summary>
internal sealed class Engine : ReadingEngine
{
    /// <summary>The clock of commits. Used by the holder of the writer.</summary>
    public SteadyClock WriterClock => field ??= new SteadyClock(Options.CommitClock);

    /// <summary>Null when the environment is opened for reading only.</summary>
    public JournalWriter? Journal { get; set; }

    public JournalFileSet? JournalFiles { get; set; }

    /// <summary>Tracks changed pages; null when the environment is opened for reading only.</summary>
    public ChangedPageTracker? ChangedPages { get; set; }

    /// <summary>The services of flushing for writers; null when the environment is opened for reading only.</summary>
    public IFlushServices? FlushServices { get; set; }

    /// <summary>Called by the flusher's thread at each of its steps; takes no lock, and throws nothing. Null when nothing needs it.</summary>
    public Action? OnWork { get; set; }

    /// <summary>Raised with each transaction that becomes durable, when it is published.</summary>
    public DurableCommitSignal MadeDurable { get; } = new();

    /// <summary>The layers above; null when the environment is opened for reading only.</summary>
    public ILayersAbove? Above { get; set; }

    /// <summary>Called by the holder of the writer when a tree needs a dictionary, with the tree's id.</summary>
    public Action<uint>? OnTrainingWanted { get; set; }

    /// <summary>The free pages reserved for staged values; null when the environment is opened for reading only.</summary>
    public ReservedPages? Reserved { get; set; }

    /// <summary>The number of bytes of these pages.</summary>
    public long StagedBytes => (Reserved?.Pages ?? 0) * PageSize;

    /// <inheritdoc/>
    public override void MakeDurable(long sequence)
    {
        if (Journal is { } journal && journal.DurableSequence < sequence)
            journal.WaitUntilDurable(sequence);
    }
}
