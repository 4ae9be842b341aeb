using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Seals records, and writes those of a batch with one call.</summary>
/// <remarks>
/// Used by the thread that leads, except that a lazy record is sealed when it is submitted, under the lock of the queue: only while all
/// records before it are sealed, so that no leader seals one meanwhile.
/// <para>
/// The first write to a block also writes the file system's metadata, which makes a small write take half as long again. A write to new blocks
/// therefore continues with zeros up to a multiple of <see cref="AheadBytes"/>, and the next small records find written blocks. Zeros in the same
/// write cost little: writing them in advance would cost a write of their own, for which commits wait.
/// </para>
/// </remarks>
internal sealed unsafe class RecordBatchWriter
{
    /// <summary>Zeros reach to a multiple of this many bytes. Records that are as large write no zeros.</summary>
    public const int AheadBytes = 64 << 10;

    // Pinned and never written. The first block is where the aligned zeros begin.
    private static readonly byte[] Zeros = GC.AllocateArray<byte>(AheadBytes + JournalFormat.Block, pinned: true);

    private readonly RandomId _environmentId;
    private readonly DeviceSpeed _speed = new();

    // The file of the most recently written records.
    private JournalFile? _written;
    private long _sealedSequence;

    public RecordBatchWriter(RandomId environmentId, in JournalPosition end)
    {
        _environmentId = environmentId;
        LastChecksum = end.Checksum;
        _sealedSequence = end.Sequence;
    }

    /// <summary>The checksum of the newest record sealed, which the next one continues.</summary>
    public ulong LastChecksum { get; private set; }

    /// <summary>True if, as measured, the device takes longer to write a byte than the codec takes to save one.</summary>
    public bool IsSlowerThanCodec => _speed.IsSlowerThanCodec;

    /// <summary>Ticks of <see cref="Stopwatch"/> spent inside the device's write calls.</summary>
    public long WriteTicks { get; private set; }

    /// <summary>Bytes written, padding included.</summary>
    public long BytesWritten { get; private set; }

    /// <summary>Write calls issued.</summary>
    public long Writes { get; private set; }

    /// <summary>Writes adjacent records of one file; they are durable when the method returns.</summary>
    /// <param name="durableSequence">The newest durable record, which the records confirm.</param>
    public void Write(List<RecordBuffer> batch, long bytes, long durableSequence)
    {
        var blocks = stackalloc IoBlock[RecordQueue.MaxBatchRecords + 1];
        for (var i = 0; i < batch.Count; i++)
        {
            AssertNeighbours(batch, i);
            if (batch[i].Sequence > _sealedSequence)
                Seal(batch[i], durableSequence);
            blocks[i] = new IoBlock(batch[i].Buffer, (nuint)batch[i].Length);
        }

        // All records of the previous file are durable. It is full, and is not written again in this epoch.
        var file = batch[0].File!;
        if (file != _written)
        {
            _written?.Close();
            _written = file;
        }

        var zeros = ZerosAfter(file, batch[0].Offset + bytes, bytes);
        var count = batch.Count;
        if (zeros > 0)
            blocks[count++] = new IoBlock(AlignedZeros, (nuint)zeros);

        var start = Stopwatch.GetTimestamp();
        file.Handle.WriteVectored(batch[0].Offset, new ReadOnlySpan<IoBlock>(blocks, count));
        var ticks = Stopwatch.GetTimestamp() - start;
        file.WrittenBytes = Math.Max(file.WrittenBytes, batch[0].Offset + bytes + zeros);
        WriteTicks += ticks;

        // The metadata of new blocks takes time that no byte of a record does.
        if (zeros == 0)
            _speed.Add(bytes, ticks);
        BytesWritten += bytes;
        Writes++;
    }

    private static byte* AlignedZeros
    {
        get
        {
            var start = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(Zeros));
            return (byte*)((start + JournalFormat.Block - 1) & -JournalFormat.Block);
        }
    }

    private static long ZerosAfter(JournalFile file, long end, long bytes) =>
        end <= file.WrittenBytes || bytes >= AheadBytes ? 0 : Math.Min((end + AheadBytes - 1) & -AheadBytes, file.Length) - end;

    /// <summary>Seals a record that is being submitted; false if one before it is not sealed yet. The caller holds the lock of the queue.</summary>
    public bool TrySealEarly(RecordBuffer record, long durableSequence)
    {
        if (Volatile.Read(ref _sealedSequence) != record.Sequence - 1)
            return false;
        Seal(record, durableSequence);
        return true;
    }

    // Sealed when issued rather than when submitted, so that the record confirms the durability of as many records as possible.
    private void Seal(RecordBuffer record, long durableSequence)
    {
        Debug.Assert(durableSequence < record.Sequence, "a record confirms only earlier records");
        Debug.Assert(record.Sequence == _sealedSequence + 1, "records are sealed in the order of the chain");
        var header = record.Header;
        header->Incarnation = record.File!.Incarnation;
        header->Offset = record.Offset;
        header->Sequence = record.Sequence;
        header->DurableSequence = durableSequence;
        header->PreviousChecksum = LastChecksum;
        header->Checksum = RecordChecksum.Compute(_environmentId, record.Buffer);
        LastChecksum = header->Checksum;
        Volatile.Write(ref _sealedSequence, record.Sequence);
    }

    [Conditional("DEBUG")]
    private void AssertNeighbours(List<RecordBuffer> batch, int i)
    {
        var record = batch[i];
        Debug.Assert(i > 0 || _written == null || record.File!.Epoch >= _written.Epoch, "files are written in the order of their epochs");
        if (i == 0)
            return;
        var before = batch[i - 1];
        Debug.Assert(record.Sequence == before.Sequence + 1, "sequences rise by one from record to record");
        Debug.Assert(record.File == before.File && record.Offset == before.Offset + before.Length, "the records of a batch are neighbours in a file");
    }
}
