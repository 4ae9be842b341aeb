using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Chooses the state to flush, and keeps it registered.</summary>
internal sealed unsafe class FlushTargetChooser
{
    private readonly ReadingEngine _engine;
    private readonly List<ActiveReader> _readers = [];

    public FlushTargetChooser(ReadingEngine engine) => _engine = engine;

    /// <summary>The reader that held the choice back, or null when there was none.</summary>
    public ActiveReader? OldestReader { get; private set; }

    /// <summary>
    /// Returns the published state or, when readers use older ones, the oldest of those: all versions are kept only for that one. The flusher's
    /// slot stays registered with it until <see cref="Release"/>. Lazy commits are made durable first.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">They could not be written.</exception>
    public PublishedState Choose()
    {
        var table = _engine.Readers;
        var slot = _engine.FlusherSlot;
        while (true)
        {
            var own = RegisterDurable();
            table.Scan(_readers, slot);
            OldestReader = null;
            foreach (var reader in _readers)
            {
                if (reader.Slot != slot && (OldestReader == null || reader.Snapshot < OldestReader.Value.Snapshot))
                    OldestReader = reader;
            }

            if (OldestReader == null || OldestReader.Value.Snapshot >= own->State.TransactionId || PlantedFault.FlushPastOldestReader)
                return *own;

            // A reader that is still checking whether it may use its snapshot cannot be joined, and will soon have another one.
            if (table.TryJoin(slot, OldestReader.Value))
                return *table.State(slot);
            SchedulePoint.Spin();
            Thread.Yield();
        }
    }

    /// <summary>Returns the published state, made durable, regardless of readers; for a journal snapshot, which overwrites nothing.</summary>
    /// <inheritdoc cref="Choose"/>
    public PublishedState ChoosePublished() => *RegisterDurable();

    private PublishedState* RegisterDurable()
    {
        var state = _engine.Readers.Register(_engine.FlusherSlot);
        try
        {
            _engine.MakeDurable(state->JournalEnd.Sequence);
            return state;
        }
        catch
        {
            Release();
            throw;
        }
    }

    public void Release() => _engine.Readers.Release(_engine.FlusherSlot);
}
