using System.Runtime.CompilerServices;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Computes for a given time as an engine does between two writes to the device: it reads and copies pieces of a buffer that is larger
/// than the processor's caches. A sleep would give the processor away, and a loop without memory would leave the caches alone.
/// </summary>
internal sealed class Computation
{
    private const int BufferBytes = 64 << 20;
    private const int PieceBytes = 512;

    private readonly byte[] _buffer = GC.AllocateUninitializedArray<byte>(BufferBytes);
    private ulong _state = 1;

    /// <summary>Writes every page of the buffer, because the system maps pages that were never written to one page of zeros.</summary>
    public Computation() => _buffer.AsSpan().Fill(0x5A);

    /// <summary>Returns when the time is over. A step takes less than a microsecond.</summary>
    public void Run(long nanoseconds)
    {
        if (nanoseconds <= 0)
            return;
        var started = Stopwatch.GetTimestamp();
        do
        {
            Step();
        }
        while (Clock.Nanoseconds(started, Stopwatch.GetTimestamp()) < nanoseconds);
    }

    /// <summary>Copies a piece to a place that depends on its content, so the processor cannot read ahead.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Step()
    {
        var source = NextPiece();
        _state ^= MemoryMarshal.Read<ulong>(source);
        source.CopyTo(NextPiece());
    }

    private Span<byte> NextPiece()
    {
        _state = (_state + 1) * 0xD6E8_FEB8_6659_FD93;
        return _buffer.AsSpan((int)(_state >> 40) % (BufferBytes / PieceBytes) * PieceBytes, PieceBytes);
    }
}
