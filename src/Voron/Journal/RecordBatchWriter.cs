using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;

namespace Voron.Journal;

/// <summary>Seals records, and writes those of a batch with one call.</summary>
/// <remarks>
/// Used by the threads that lead, except that a lazy record is sealed when it is submitted, under the lock of the queue: only while all
/// records before it are sealed, so that no leader seals one meanwhile. Of two leaders, the second begins when the first has sealed, and counts its
/// write when the first has ended; only <see cref="Write"/> is called by both at once.
/// <para>
/// The first write to a block also writes the file system's metadata, which makes a small write take half as long again. A small write to new blocks
/// therefore continues with zeros up to a multiple of <see cref="AheadBytes"/>, and the next ones find written blocks. Zeros in the same write cost
/// little: writing them in advance would cost a write of their own, for which commits wait (decision 44).
/// </para>
/// </remarks>
internal sealed unsafe class RecordBatchWriter : IDisposable
{
    /// <summary>Zeros reach to a multiple of this many bytes. Writes of as many bytes have no zeros.</summary>
    public const int AheadBytes = 64 << 10;

    private const int MaxZeroBlocks = AheadBytes / JournalFormat.Block;
    private const int BatchesBetweenMeasurements = 64;

    private readonly RandomId _environmentId;
    private readonly DeviceSpeed _speed;

    // The file of the most recently written records.
    private JournalFile? _written;
    private long _sealedSequence;
    private long _sealedBatches;
    private byte* _zeros;

    public RecordBatchWriter(RandomId environmentId, in JournalPosition end, TimeSpan slowWrite)
    {
        _speed = new DeviceSpeed(slowWrite);
        _environmentId = environmentId;
        LastChecksum = end.Checksum;
        _sealedSequence = end.Sequence;
        _zeros = (byte*)EngineMemory.AllocateAligned(JournalFormat.Block, JournalFormat.Block);
        NativeMemory.Clear(_zeros, JournalFormat.Block);
    }

    /// <summary>Frees memory. Nothing is written any more.</summary>
    public void Dispose()
    {
        if (_zeros != null)
            EngineMemory.FreeAligned(_zeros);
        _zeros = null;
    }

    /// <summary>The checksum of the newest record sealed, which the next one continues.</summary>
    public ulong LastChecksum { get; private set; }

    /// <summary>True if, as measured, the device takes longer to write a byte than the codec takes to save one.</summary>
    public bool IsSlowerThanCodec => _speed.IsSlowerThanCodec;

    /// <inheritdoc cref="DeviceSpeed.SlowTicks"/>
    public long SlowTicks => _speed.SlowTicks;

    /// <inheritdoc cref="DeviceSpeed.Declare"/>
    public void Declare(bool isSlow) => _speed.Declare(isSlow);

    /// <summary>Ticks of <see cref="Stopwatch"/> spent inside the device's write calls.</summary>
    public long WriteTicks { get; private set; }

    /// <summary>Bytes of records written, padding included and zeros after them excluded.</summary>
    public long BytesWritten { get; private set; }

    /// <summary>Write calls issued.</summary>
    public long Writes { get; private set; }

    /// <summary>Seals the records of a batch that are not sealed yet. Batches are sealed in the order in which they were taken.</summary>
    /// <param name="durableSequence">The newest durable record, which the records confirm.</param>
    public void Seal(RecordBatch batch, long durableSequence)
    {
        _sealedBatches++;
        var records = batch.Records;
        for (var i = 0; i < records.Count; i++)
        {
            AssertNeighbours(records, i);
            if (records[i].Sequence > _sealedSequence)
                Seal(records[i], durableSequence);
        }

        // All records of the previous file are durable. It is full, and is not written again in this epoch.
        var file = records[0].File!;
        if (file != _written)
        {
            _written?.Close();
            _written = file;
        }

        // Opened here if it has to be, before another leader is admitted.
        batch.Handle = file.Handle;
        batch.Zeros = ZerosAfter(file, records[0].Offset + batch.Bytes, batch.Bytes);
    }

    /// <summary>Writes a sealed batch; its records are durable when the method returns, unless those before them are not.</summary>
    public void Write(RecordBatch batch)
    {
        var records = batch.Records;
        var blocks = stackalloc IoBlock[RecordBatch.MaxRecords + MaxZeroBlocks];
        var count = 0;
        foreach (var record in records)
            blocks[count++] = new IoBlock(record.Buffer, (nuint)record.Length);
        for (var left = batch.Zeros; left > 0; left -= JournalFormat.Block)
            blocks[count++] = new IoBlock(_zeros, JournalFormat.Block);

        var start = Stopwatch.GetTimestamp();
        batch.Handle!.WriteVectored(records[0].Offset, new ReadOnlySpan<IoBlock>(blocks, count));
        batch.Ticks = Stopwatch.GetTimestamp() - start;
    }

    /// <summary>
    /// True if the batch sealed last must not admit a second leader. This applies to two in a row, so that the second of these writes is alone
    /// under way, and the speed of the device becomes known again and again.
    /// </summary>
    public bool MeasuresSpeed => _sealedBatches % BatchesBetweenMeasurements >= BatchesBetweenMeasurements - 2;

    /// <summary>Counts a write that has returned, after those before it.</summary>
    public void Note(RecordBatch batch)
    {
        var (file, bytes) = (batch.Records[0].File!, batch.Bytes);
        file.WrittenBytes = Math.Max(file.WrittenBytes, batch.Records[0].Offset + bytes + batch.Zeros);
        WriteTicks += batch.Ticks;

        // Zeros and metadata take time that no byte of a record does, and a device may make two writes one after the other.
        if (batch.Zeros == 0 && !batch.Overlaps)
            _speed.Add(bytes, batch.Ticks);
        BytesWritten += bytes;
        Writes++;
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
