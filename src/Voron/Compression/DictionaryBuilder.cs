using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Compression;

/// <summary>Builds a dictionary of the strings that most samples have in common. The same samples always give the same dictionary.</summary>
/// <remarks>
/// For each hash of eight bytes, the number of samples that have it is counted. A segment of the samples is worth as much as its strings occur in
/// other samples. Each pass takes the best segment of each stretch of the samples, and what has been taken is worth
/// nothing from then on. The segments that are worth most come last, where even the end of a long value reaches them.
/// </remarks>
internal sealed class DictionaryBuilder
{
    private const int StringBytes = 8;
    private const int SegmentBytes = 96;
    private const int HashBits = 18;
    private const int Passes = 8;

    private readonly ushort[] _counts = new ushort[1 << HashBits];
    private readonly int[] _seen = new int[1 << HashBits];
    private readonly List<(int Start, int Length, long Worth)> _segments = [];
    private readonly byte[] _bytes;
    private readonly int[] _ends;
    private int _stamp;

    private DictionaryBuilder(IReadOnlyList<byte[]> samples)
    {
        _bytes = [.. samples.SelectMany(sample => sample)];
        _ends = new int[samples.Count];
        var end = 0;
        for (var i = 0; i < samples.Count; i++)
            _ends[i] = end += samples[i].Length;
    }

    /// <summary>Builds a dictionary; it is empty if the samples have too little in common.</summary>
    /// <param name="samples">The samples.</param>
    /// <param name="mostBytes">The most bytes of the dictionary.</param>
    public static byte[] Build(IReadOnlyList<byte[]> samples, int mostBytes) => new DictionaryBuilder(samples).Build(mostBytes);

    private byte[] Build(int mostBytes)
    {
        Count();
        var stretches = Math.Max(1, mostBytes / SegmentBytes);
        var stretch = Math.Max(2 * SegmentBytes, _bytes.Length / stretches);
        var left = mostBytes;
        for (var pass = 0; pass < Passes && left >= SegmentBytes; pass++)
        {
            var before = left;
            for (var from = 0; from < _bytes.Length && left >= SegmentBytes; from += stretch)
                left -= Take(from, Math.Min(_bytes.Length, from + stretch));
            if (left == before)
                break;
        }

        return Join();
    }

    private void Count()
    {
        var start = 0;
        foreach (var end in _ends)
        {
            _stamp++;
            for (var at = start; at + StringBytes <= end; at++)
            {
                var hash = Hash(at);
                if (_seen[hash] == _stamp)
                    continue;
                _seen[hash] = _stamp;
                if (_counts[hash] < ushort.MaxValue)
                    _counts[hash]++;
            }

            start = end;
        }
    }

    // Takes the best segment of a stretch, and returns its length; 0 if none is worth it.
    private int Take(int from, int to)
    {
        var best = (Start: 0, Worth: 0L);
        var worth = 0L;
        var window = SegmentBytes - StringBytes + 1;
        for (var at = from; at + StringBytes <= to; at++)
        {
            worth += Worth(at);
            if (at - window >= from)
                worth -= Worth(at - window);
            if (worth > best.Worth)
                best = (Math.Max(from, at - window + 1), worth);
        }

        if (best.Worth < SegmentBytes)
            return 0;
        var (start, end) = Trim(best.Start, Math.Min(to, best.Start + SegmentBytes));
        for (var at = start; at + StringBytes <= end; at++)
            _counts[Hash(at)] = 0;
        _segments.Add((start, end - start, best.Worth));
        return end - start;
    }

    private (int Start, int End) Trim(int start, int end)
    {
        while (end - start > StringBytes && Worth(start) == 0)
            start++;
        while (end - start > StringBytes && Worth(end - StringBytes) == 0)
            end--;
        return (start, end);
    }

    private long Worth(int at) => Math.Max(0, _counts[Hash(at)] - 1);

    private byte[] Join()
    {
        var total = _segments.Sum(segment => segment.Length);
        var dictionary = new byte[total];
        var end = 0;
        foreach (var (start, length, _) in _segments.OrderBy(segment => segment.Worth))
        {
            _bytes.AsSpan(start, length).CopyTo(dictionary.AsSpan(end));
            end += length;
        }

        return dictionary;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int Hash(int at) =>
        (int)((MemoryMarshal.Read<ulong>(_bytes.AsSpan(at, StringBytes)) * 0x9E37_79B1_85EB_CA87) >> (64 - HashBits));
}
