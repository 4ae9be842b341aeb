using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Tests.Journal;

/// <summary>Holds every write of records until a test lets it succeed or fail.</summary>
internal sealed class HeldWrites
{
    private readonly Lock _gate = new();
    private readonly List<(TaskCompletionSource Source, TraceEntry Entry)> _held = [];
    private bool _isReleased;

    public HeldWrites(SimulatedDisk disk) => disk.InProgress = Hold;

    public int Count
    {
        get
        {
            lock (_gate)
                return _held.Count;
        }
    }

    public void Await(int count) => SpinWait.SpinUntil(() => Count >= count, TestWait.Limit).Should().BeTrue("write {0} begins", count);

    public void Release(int write) => At(write).Source.TrySetResult();

    public void Fail(int write) =>
        At(write).Source.TrySetException(new DiskException(DiskError.Failed, "write", "journal", "planned"));

    public long DurableSequenceOf(int write)
    {
        Span<byte> bytes = stackalloc byte[RecordHeader.Size];
        At(write).Entry.Fragments[0].CopyTo(bytes, 0);
        return MemoryMarshal.Read<RecordHeader>(bytes).DurableSequence;
    }

    public void Release()
    {
        lock (_gate)
        {
            _isReleased = true;
            foreach (var (source, _) in _held)
                source.TrySetResult();
        }
    }

    private (TaskCompletionSource Source, TraceEntry Entry) At(int write)
    {
        lock (_gate)
            return _held[write];
    }

    private void Hold(TraceEntry entry)
    {
        if (entry.Kind != TraceKind.Write || entry.Offset < JournalFormat.FirstRecordOffset)
            return;
        var source = new TaskCompletionSource();
        lock (_gate)
        {
            _held.Add((source, entry));
            if (_isReleased)
                source.TrySetResult();
        }

        source.Task.GetAwaiter().GetResult();
    }
}
