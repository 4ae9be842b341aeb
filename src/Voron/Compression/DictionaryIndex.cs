using System.Runtime.CompilerServices;
using Voron.IO;

namespace Voron.Compression;

/// <summary>A dictionary as a compressor needs it: followed by room for a value, and with an index of the strings of four bytes in it.</summary>
/// <remarks>
/// Each string is in a chain with the strings before it that have the same hash, the last one first. The value that is being compressed has chains of
/// its own. They are forgotten by raising the base of their positions, so that nothing needs to be cleared from one value to the next.
/// </remarks>
internal sealed unsafe class DictionaryIndex
{
    /// <summary>The most bytes of a value that can be compressed.</summary>
    public const int MaxValueBytes = 64 << 10;

    private const int HashBits = 15;
    private const int Slack = 16;

    private readonly byte[] _window;
    private readonly int[] _heads = new int[1 << HashBits];
    private readonly ushort[] _steps;
    private readonly int[] _valueHeads = new int[1 << HashBits];
    private readonly ushort[] _valueSteps = new ushort[MaxValueBytes];
    private int _base = 1;

    public DictionaryIndex(ReadOnlySpan<byte> dictionary)
    {
        Length = dictionary.Length;
        EngineMemory.Ask((nuint)(dictionary.Length + MaxValueBytes));
        _window = GC.AllocateUninitializedArray<byte>(dictionary.Length + MaxValueBytes + Slack, pinned: true);
        dictionary.CopyTo(_window);
        _steps = new ushort[dictionary.Length];
        Array.Fill(_heads, -1);
        for (var at = 0; at + sizeof(uint) <= dictionary.Length; at++)
            Link(_heads, _steps, at, at, Hash(Start + at), least: 0);
    }

    /// <summary>The number of bytes of the dictionary.</summary>
    public int Length { get; }

    /// <summary>The first byte of the dictionary.</summary>
    public byte* Start => (byte*)Unsafe.AsPointer(ref _window[0]);

    /// <summary>The place of the value, directly behind the dictionary.</summary>
    public byte* Value => Start + Length;

    /// <summary>Copies a value behind the dictionary, and forgets the one before.</summary>
    public void Begin(ReadOnlySpan<byte> value)
    {
        value.CopyTo(_window.AsSpan(Length));
        if (_base > int.MaxValue - 2 * MaxValueBytes)
        {
            Array.Clear(_valueHeads);
            _base = 1;
        }
        else
        {
            _base += MaxValueBytes;
        }
    }

    /// <summary>Adds the string at a position of the value to the index.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(int at) => Link(_valueHeads, _valueSteps, _base + at, at, Hash(Value + at), _base);

    /// <summary>
    /// Finds the longest match for a position of the value, among the last strings with the same hash in the value, and then in the dictionary.
    /// </summary>
    /// <param name="at">The position.</param>
    /// <param name="end">The position in the value where a match must end.</param>
    /// <param name="attempts">The most strings that are looked at.</param>
    /// <param name="length">The length of the match; the one before must be exceeded.</param>
    /// <returns>The distance back to the match; 0 if there is none.</returns>
    public int Find(int at, int end, int attempts, ref int length)
    {
        var here = Value + at;
        var last = Value + end;
        var hash = Hash(here);
        var distance = 0;
        var left = attempts;
        for (var found = _valueHeads[hash] - _base; found >= 0 && left > 0; left--)
        {
            Compare(here, Value + found, last, ref length, ref distance);
            int step = _valueSteps[found];
            if (step == 0)
                break;
            found -= step;
        }

        left = attempts;
        for (var found = _heads[hash]; found >= 0 && left > 0; left--)
        {
            if (Length - found + at > Lz4Format.MaxOffset)
                break;
            Compare(here, Start + found, last, ref length, ref distance);
            int step = _steps[found];
            if (step == 0)
                break;
            found -= step;
        }

        return distance;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Compare(byte* here, byte* candidate, byte* end, ref int length, ref int distance)
    {
        // The byte behind the best match so far decides most comparisons.
        if (here + length >= end || candidate[length] != here[length]
            || Unsafe.ReadUnaligned<uint>(candidate) != Unsafe.ReadUnaligned<uint>(here))
            return;
        var common = (int)Lz4Format.CommonLength(here, candidate, end);
        if (common <= length || here - candidate > Lz4Format.MaxOffset)
            return;
        length = common;
        distance = (int)(here - candidate);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static uint Hash(byte* bytes) => (Unsafe.ReadUnaligned<uint>(bytes) * 2654435761u) >> (32 - HashBits);

    // A step of 0 ends a chain, also where the string before is too far away for any match.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Link(int[] heads, ushort[] steps, int position, int index, uint hash, int least)
    {
        var step = heads[hash] < least ? 0 : position - heads[hash];
        steps[index] = (ushort)(step > ushort.MaxValue ? 0 : step);
        heads[hash] = position;
    }
}
