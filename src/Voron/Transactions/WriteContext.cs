using System.Diagnostics;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>
/// The parts through which the open write transaction changes trees: its pages, its waiting puts, the failure that has broken it, and the objects
/// attached to its state. One object per environment, used by the holder of the writer.
/// </summary>
internal sealed class WriteContext
{
    private readonly Engine _engine;

    public WriteContext(Engine engine, CopyOnWritePages pages)
    {
        _engine = engine;
        Pages = pages;
        LargeValues = new LargeValueWriter(engine, pages);
        Route = new LargeValueRoute(engine, pages);
        Buffers = new PutBufferPool(engine.Options.PutBufferBytes);
        OperationSavepoint = new GroupOperationSavepoint(Buffers, ThrowIfBroken);
        Recorder = new ChangeRecorder(engine.WriterClock, pages);
        Packer = new DictionaryPacker(pages, (DictionaryCache)engine.Snapshots.Dictionaries);
    }

    /// <summary>The name of the environment in metrics and activities.</summary>
    public string EnvironmentName => _engine.Name.Text;

    /// <inheritdoc cref="Engine.Above"/>
    public ILayersAbove? Above => _engine.Above;

    /// <summary>The copy-on-write pages.</summary>
    public CopyOnWritePages Pages { get; }

    /// <summary>Writes large values to the data file.</summary>
    public LargeValueWriter LargeValues { get; }

    /// <summary>Decides which values those are.</summary>
    public LargeValueRoute Route { get; }

    /// <summary>The puts of the open transaction whose values have not arrived in full.</summary>
    public UnfinishedPuts UnfinishedPuts { get; } = new();

    /// <summary>The buffers for waiting puts.</summary>
    public PutBufferPool Buffers { get; }

    /// <summary>Records changes in feeds.</summary>
    public ChangeRecorder Recorder { get; }

    /// <summary>Compresses values.</summary>
    public DictionaryPacker Packer { get; }

    /// <summary>The savepoint of the group-commit operation that runs.</summary>
    public GroupOperationSavepoint OperationSavepoint { get; }

    /// <summary>The objects attached to the state as the open transaction leaves it; null for none.</summary>
    public AttachedObjects? Attached { get; private set; }

    /// <summary>Increases with each rollback to a savepoint.</summary>
    public long RollbackCount { get; set; }

    /// <summary>The failure that has broken the open transaction, or null.</summary>
    public Exception? BrokenBy { get; private set; }

    /// <summary>True when the open transaction, or a part of it, can only be rolled back.</summary>
    public bool IsBroken => BrokenBy != null;

    /// <summary>Notes that an operation failed midway: trees may be partially changed. Always returns false, for use in a filter.</summary>
    public bool Break(Exception cause)
    {
        if (!PlantedFault.CommitAfterNoMemory || cause is not OutOfMemoryException)
            BrokenBy ??= cause;
        return false;
    }

    /// <summary>Begins a transaction.</summary>
    /// <param name="states">The objects attached to the state on which it begins.</param>
    public void Begin(AttachedObjects? states)
    {
        BrokenBy = null;
        Route.Begin();
        Recorder.Begin();
        Packer.Begin();
        Attached = states;
    }

    /// <summary>Ends the transaction. Keeps no user object alive.</summary>
    public void End()
    {
        Buffers.Reset();
        Pages.Unpacker.End();
        Attached = null;
    }

    /// <summary>Notes that everything since a savepoint has been undone, including a failed operation.</summary>
    /// <param name="states">The objects that were attached to the state then.</param>
    public void NoteRolledBack(AttachedObjects? states)
    {
        BrokenBy = null;
        Recorder.NoteRolledBack();
        Packer.Begin();
        Attached = PlantedFault.KeepStateOfRollback ? Attached : states;
    }

    /// <summary>Attaches an object to the state that the transaction leaves, or removes one.</summary>
    /// <inheritdoc cref="BeginChange"/>
    public void SetState(object key, object? state)
    {
        BeginChange();
        Attached = AttachedObjects.With(Attached, key, state);
    }

    /// <summary>Prepares for a change that does not wait in a buffer, and is not made through the settled state of a tree.</summary>
    /// <exception cref="InvalidOperationException">An operation has failed midway.</exception>
    public void BeginChange()
    {
        ThrowIfBroken();
        OperationSavepoint.Ensure();
    }

    /// <inheritdoc cref="ReadingEngine.AssertWriterHeld"/>
    [Conditional("DEBUG")]
    public void AssertWriterHeld() => _engine.AssertWriterHeld();

    /// <exception cref="InvalidOperationException">An operation has failed midway.</exception>
    public void ThrowIfBroken()
    {
        AssertWriterHeld();
        if (BrokenBy != null)
        {
            throw new InvalidOperationException(
                $"An earlier operation of this transaction failed partway ({BrokenBy.Message}). " +
                "The transaction can only be rolled back, as a whole or to a savepoint.",
                BrokenBy);
        }
    }
}
