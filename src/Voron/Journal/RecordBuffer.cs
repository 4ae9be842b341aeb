using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>A record on its way to the journal: an aligned buffer that begins with the record's header.</summary>
internal sealed unsafe class RecordBuffer : IDisposable
{
    private readonly BlockMemory _memory;
    private MemoryBlock? _block;
    private byte* _buffer;
    private nuint _capacity;
    private nuint _needed;

    /// <param name="capacity">The initial capacity in bytes.</param>
    /// <param name="memory">The memory for the buffer; null for memory without limits.</param>
    public RecordBuffer(int capacity, BlockMemory? memory = null)
    {
        _memory = memory ?? BlockMemory.Unlimited;
        EnsureCapacity((nuint)capacity, 0);
    }

    public byte* Buffer => _buffer;

    /// <summary>True if the record exceeded the available memory, and is stored in a temporary file.</summary>
    public bool IsSpilled => _block is { IsSpilled: true };

    public RecordHeader* Header => (RecordHeader*)_buffer;

    /// <summary>The start of the payload.</summary>
    public byte* Payload => _buffer + Header->HeaderSize;

    /// <summary>The size of the record in the file in bytes, a multiple of a block. Set by <see cref="Finish"/>.</summary>
    public long Length { get; private set; }

    /// <summary>Completed when the record is durable and published, or has failed. Null if a thread waits by sequence.</summary>
    public CommitCompletion? Completion { get; set; }

    /// <summary>The time at which the commit of the record began, if it is measured; otherwise 0.</summary>
    public long BeganTimestamp { get; set; }

    /// <summary>All objects attached to the state of a transaction's record; null for none. They are not written.</summary>
    public AttachedObjects? Attached { get; set; }

    /// <summary>True if the record may be published before it is durable (<see cref="Durability.Lazy"/>).</summary>
    public bool IsLazy { get; set; }

    /// <summary>True if it was. Set under the lock of the queue, before another thread can take the record from the queue.</summary>
    public bool IsPublished { get; set; }

    /// <summary>True if the record may be written while another write is under way: a durable transaction whose extents are durable.</summary>
    public bool MayOverlap => !IsLazy && Header->Kind == RecordKind.Transaction && (Header->Flags & RecordFlags.ExtentsUnsynced) == 0;

    /// <summary>The file of the record. Set on submission.</summary>
    public JournalFile? File { get; set; }

    public long Offset { get; set; }

    public long Sequence { get; set; }

    /// <summary>The end of the journal after the record, once it is sealed.</summary>
    public JournalPosition End => new()
    {
        Incarnation = File!.Incarnation,
        Epoch = File.Epoch,
        Offset = Offset + Length,
        Sequence = Sequence,
        Checksum = Header->Checksum,
    };

    /// <summary>The number of bytes of memory that the buffer holds.</summary>
    public long Capacity => (long)_capacity;

    /// <summary>Returns the largest number of bytes requested since the last call.</summary>
    public long TakeNeeded()
    {
        var needed = _needed;
        _needed = 0;
        return (long)needed;
    }

    /// <summary>Replaces the buffer with a smaller one. The buffer must be empty.</summary>
    public void Shrink(int capacity)
    {
        Dispose();
        EnsureCapacity((nuint)capacity, 0);
        _needed = 0;
    }

    /// <summary>Marks the buffer as unused until <see cref="Revive"/>. A spilled one is freed.</summary>
    public void Retire()
    {
        if (IsSpilled)
            Dispose();
        else
            EngineMemory.Retire(_buffer, _capacity);
    }

    /// <summary>Makes the buffer usable again.</summary>
    /// <param name="capacity">The capacity in bytes if the buffer was freed.</param>
    /// <exception cref="OutOfMemoryException">There is no memory; the buffer stays as it was.</exception>
    public void Revive(int capacity)
    {
        if (_block == null)
            EnsureCapacity((nuint)capacity, 0);
        else
            EngineMemory.Revive(_buffer, _capacity);
    }

    /// <summary>Ensures a capacity of <paramref name="capacity"/> bytes, keeping the first <paramref name="used"/>.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; the buffer is unchanged.</exception>
    /// <exception cref="StorageFullException">There is neither memory nor disk space; the buffer is unchanged.</exception>
    public void EnsureCapacity(nuint capacity, nuint used)
    {
        _needed = Math.Max(_needed, capacity);
        if (capacity <= _capacity)
            return;

        var larger = Math.Max((nuint)JournalFormat.AlignUp((long)capacity), _capacity * 2);
        var block = _memory.Allocate(larger, JournalFormat.Block);
        if (_block != null)
        {
            System.Buffer.MemoryCopy(_buffer, block.Address, larger, used);
            _block.Dispose();
        }

        _block = block;
        _buffer = block.Address;
        _capacity = larger;
    }

    /// <summary>Begins a record of a kind with a zeroed header, in the layout of a format version.</summary>
    public void Begin(RecordKind kind, uint version)
    {
        *Header = default;
        Header->Marker = JournalFormat.RecordMarker;
        Header->Kind = kind;
        Header->Flags = version == JournalFormat.Version1 ? RecordFlags.None : RecordFlags.WholeState;
        Completion = null;
        BeganTimestamp = 0;
        Attached = null;
        IsLazy = false;
        IsPublished = false;
        File = null;
    }

    /// <summary>Fixes the lengths and pads the record to whole blocks.</summary>
    public void Finish(long storedLength, long payloadLength, RecordFlags flags)
    {
        Header->StoredLength = storedLength;
        Header->PayloadLength = payloadLength;
        Header->Flags |= flags;
        Length = Header->AlignedLength;
        var end = Header->HeaderSize + storedLength;
        EnsureCapacity((nuint)Length, (nuint)end);
        NativeMemory.Clear(_buffer + end, (nuint)(Length - end));
    }

    /// <summary>Completes the waiting commit, if there is one.</summary>
    /// <param name="failure">Null if the record is durable and published.</param>
    public void Acknowledge(Exception? failure)
    {
        var completion = Completion;
        Completion = null;
        try
        {
            if (failure == null)
                completion?.SetResult();
            else
                completion?.SetException(failure);
        }
        catch (Exception)
        {
            // The completion runs no code of its caller here and handles its own failures. If it throws nevertheless, the journal continues: other
            // commits depend on the leader, and there is no other place to report it.
        }
    }

    public void Dispose()
    {
        _block?.Dispose();
        _block = null;
        _buffer = null;
        _capacity = 0;
    }
}
