using System.Runtime.CompilerServices;
using Voron.IO;

namespace Voron.Compression;

/// <summary>A dictionary as a compressor needs it: followed by room for a value, and with an index of the strings of four bytes in it.</summary>
/// <remarks>
/// Each string is in a chain with the strings before it that have the same hash, the last one first. The value that is being compressed has chains of
/// its own, which are shared by all dictionaries of a writer. One thread at a time may use an index.
/// </remarks>
internal sealed unsafe class DictionaryIndex
{
    private const int Slack = 16;

    /// <summary>A string has four bytes, so none begins in the last place of the longest dictionary.</summary>
    private const ushort None = ushort.MaxValue;

    private readonly byte[] _window;
    private readonly ushort[] _heads = new ushort[1 << ValueStrings.HashBits];
    private readonly ushort[] _steps;
    private readonly ValueStrings _strings;
    private readonly int[] _valueHeads;
    private readonly ushort[] _valueSteps;
    private int _base;

    /// <param name="dictionary">The bytes of the dictionary, which are copied.</param>
    /// <param name="strings">The strings of the values.</param>
    public DictionaryIndex(ReadOnlySpan<byte> dictionary, ValueStrings strings)
    {
        Length = dictionary.Length;
        _strings = strings;
        (_valueHeads, _valueSteps) = (strings.Heads, strings.Steps);
        EngineMemory.Ask((nuint)(dictionary.Length + ValueStrings.MaxValueBytes));
        _window = GC.AllocateUninitializedArray<byte>(dictionary.Length + ValueStrings.MaxValueBytes + Slack, pinned: true);
        dictionary.CopyTo(_window);
        _steps = new ushort[dictionary.Length];
        Array.Fill(_heads, None);
        for (var at = 0; at + sizeof(uint) <= dictionary.Length; at++)
        {
            ref var head = ref _heads[Hash(Start + at)];
            _steps[at] = (ushort)(head == None ? 0 : at - head);
            head = (ushort)at;
        }
    }

    /// <summary>The bytes of memory that it takes, without the strings of the values.</summary>
    public long Bytes => (sizeof(ushort) << ValueStrings.HashBits) + sizeof(ushort) * (long)Length + _window.Length;

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
        _strings.Begin();
        _base = _strings.Base;
    }

    /// <summary>Adds the string at a position of the value to the index.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(int at)
    {
        ref var head = ref _valueHeads[Hash(Value + at)];
        var step = head < _base ? 0 : _base + at - head;

        // A step of 0 ends a chain, also where the string before is too far away for any match.
        _valueSteps[at] = (ushort)(step > ushort.MaxValue ? 0 : step);
        head = _base + at;
    }

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
        for (int found = _heads[hash]; found != None && left > 0; left--)
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
    private static uint Hash(byte* bytes) => (Unsafe.ReadUnaligned<uint>(bytes) * 2654435761u) >> (32 - ValueStrings.HashBits);
}
