using System.Runtime.CompilerServices;
using Voron.Testing;

namespace Voron.Sorting;

/// <summary>Merges streams into one in key order, each key once unless all entries are kept.</summary>
/// <remarks>
/// A tree of losers: each inner node has the stream that lost the match there, so that after a move of the winner, only the matches on its way to the
/// root are played again. Nearly all of them compare two numbers, the heads of the keys after the prefix that all keys share. Of several entries with
/// the same key, the one that the rule keeps wins; the others follow it immediately, and are skipped. If all are kept, the earlier one wins.
/// </remarks>
internal sealed unsafe class StreamMerger : IDisposable
{
    private readonly SortContext _context;
    private readonly SortedStream[] _streams;
    private readonly ulong[] _heads;
    private readonly int[] _losers;
    private readonly bool _lastWins;
    private readonly bool _keepsAll;
    private readonly int _prefix;
    private byte* _key;
    private int _keyLength = -1;
    private ulong _head;
    private int _winner;

    /// <summary>Moves all streams to their first entries.</summary>
    /// <param name="context">The sort.</param>
    /// <param name="streams">Streams, none of them empty, in order of arrival; owned by the merger even if the constructor fails.</param>
    public StreamMerger(SortContext context, IEnumerable<SortedStream> streams)
    {
        _context = context;
        _keepsAll = context.Options.Duplicates == null;
        _lastWins = context.Options.Duplicates == DuplicateKeys.LastWins && !PlantedFault.PreferEarlierRun;
        var opened = new List<SortedStream>();
        try
        {
            foreach (var stream in streams)
                opened.Add(stream);
            _key = (byte*)context.Memory.Resize(null, (nuint)context.LongestKey + 1);
            _streams = [.. opened];
            _heads = new ulong[_streams.Length];
            _losers = new int[_streams.Length];
            foreach (var stream in _streams)
                stream.MoveNext();
            _prefix = CommonPrefix();
            for (var i = 0; i < _streams.Length; i++)
                _heads[i] = HeadOf(_streams[i]);

            if (_streams.Length > 0)
                _winner = Play(1);
        }
        catch
        {
            Free(opened);
            throw;
        }
    }

    /// <summary>The current entry. Its memory is valid until the next move.</summary>
    public SortedStream Current => _streams[_winner];

    /// <summary>Moves to the first entry, or to the next one. Returns false after the last one.</summary>
    /// <exception cref="DuplicateEntryException">Two entries have the same key, which is refused.</exception>
    /// <exception cref="VoronException">An entry cannot be read back, or is damaged.</exception>
    public bool MoveNext()
    {
        if (_streams.Length == 0 || _streams[_winner].IsOver)
            return false;
        if (_keyLength < 0)
        {
            Keep();
            return true;
        }

        if (_streams.Length == 1)
            return _streams[0].MoveNext();
        do
        {
            Advance();
            if (_streams[_winner].IsOver)
                return false;
        }
        while (_heads[_winner] == _head && !_keepsAll && IsDuplicate());

        Keep();
        return true;
    }

    public void Dispose() => Free(_streams);

    private void Free(IEnumerable<SortedStream> streams)
    {
        foreach (var stream in streams)
            stream.Dispose();
        _context.Memory.Free(_key);
        _key = null;
    }

    private int CommonPrefix()
    {
        var common = int.MaxValue;
        foreach (var stream in _streams)
        {
            var shared = stream.KeySpan.CommonPrefixLength(_streams[0].KeySpan);
            common = Math.Min(common, Math.Min(shared, stream.SharedBytes));
        }

        return common;
    }

    // The leaves follow the inner nodes: stream i is node i + the number of streams.
    private int Play(int node)
    {
        if (node >= _streams.Length)
            return node - _streams.Length;
        var left = Play(2 * node);
        var right = Play(2 * node + 1);
        var leftWins = _heads[left] != _heads[right] ? _heads[left] < _heads[right] : BeatsByKey(left, right);
        _losers[node] = leftWins ? right : left;
        return leftWins ? left : right;
    }

    private void Advance()
    {
        var winner = _winner;
        var stream = _streams[winner];
        var head = stream.MoveNext() ? HeadOf(stream) : ulong.MaxValue;
        var heads = _heads;
        heads[winner] = head;
        for (var node = (winner + heads.Length) >> 1; node > 0; node >>= 1)
        {
            ref var loser = ref _losers[node];
            var other = heads[loser];
            if (other > head || (other == head && !BeatsByKey(loser, winner)))
                continue;
            (loser, winner) = (winner, loser);
            head = other;
        }

        _winner = winner;
    }

    // The order of the streams is that of their arrival.
    private bool BeatsByKey(int one, int other)
    {
        SortedStream left = _streams[one], right = _streams[other];
        if (left.IsOver || right.IsOver)
            return !left.IsOver;
        var order = left.KeySpan[_prefix..].SequenceCompareTo(right.KeySpan[_prefix..]);
        if (order != 0)
            return order < 0;
        return _lastWins ? one > other : one < other;
    }

    private ulong HeadOf(SortedStream stream) => KeySorter.Head(stream.Key + _prefix, stream.KeyLength - _prefix);

    private bool IsDuplicate()
    {
        var key = Current.KeySpan;
        if (!key.SequenceEqual(new ReadOnlySpan<byte>(_key, _keyLength)))
            return false;
        if (_context.Options.Duplicates == DuplicateKeys.Refuse)
            throw new DuplicateEntryException(key.ToArray());
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Keep()
    {
        var winner = Current;
        _head = _heads[_winner];
        _keyLength = winner.KeyLength;
        winner.KeySpan.CopyTo(new Span<byte>(_key, _keyLength));
    }
}
