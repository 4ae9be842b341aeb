namespace Voron.Compression;

/// <summary>Compresses values into LZ4 blocks whose matches may reach back into a dictionary.</summary>
/// <remarks>
/// Both ways produce the same format. The fast one takes the first match of a place, and takes longer and longer steps where nothing matches. The
/// thorough one looks at many strings for each place, and at the next place before it takes a match.
/// </remarks>
internal static unsafe class ValueEncoder
{
    private const int FastAttempts = 1;
    private const int ThoroughAttempts = 64;

    /// <summary>A match of this length is taken at once.</summary>
    private const int LongEnough = 64;

    /// <summary>Compresses into one block and returns its length, or 0 if it does not fit; the content of the target is then undefined.</summary>
    /// <param name="index">The dictionary.</param>
    /// <param name="value">The value, of at most <see cref="ValueStrings.MaxValueBytes"/>.</param>
    /// <param name="target">Receives the block.</param>
    /// <param name="isThorough">True to look longer for matches.</param>
    public static int Compress(DictionaryIndex index, ReadOnlySpan<byte> value, Span<byte> target, bool isThorough)
    {
        index.Begin(value);
        fixed (byte* to = target)
        {
            var output = new Output { To = to, End = to + target.Length, Start = to };
            return Compress(index, value.Length, ref output, isThorough);
        }
    }

    private static int Compress(DictionaryIndex index, int length, ref Output output, bool isThorough)
    {
        var value = index.Value;
        var lastStart = length - Lz4Format.LastMatchDistanceFromEnd;
        var matchesEnd = length - Lz4Format.LiteralsAtEnd;
        var literals = 0;
        var at = 0;
        var tried = 1 << Lz4Format.SkipShift;
        while (at <= lastStart)
        {
            var found = Lz4Format.MinMatch - 1;
            var distance = index.Find(at, matchesEnd, isThorough ? ThoroughAttempts : FastAttempts, ref found);
            index.Add(at);
            if (distance == 0)
            {
                at += isThorough ? 1 : tried++ >> Lz4Format.SkipShift;
                continue;
            }

            if (isThorough)
                distance = FindBetter(index, ref at, lastStart, matchesEnd, distance, ref found);
            else
                Extend(value, index.Start, literals, ref at, distance, ref found);
            if (!output.TryWrite(value + literals, at - literals, value + length, distance, found))
                return 0;
            for (var next = isThorough ? at + 1 : at + found - 2; next < at + found && next <= lastStart; next++)
                index.Add(next);
            at += found;
            literals = at;
            tried = 1 << Lz4Format.SkipShift;
        }

        return output.TryEnd(value + literals, length - literals, value + length) ? (int)(output.To - output.Start) : 0;
    }

    // While the next place has a longer match, this one becomes a literal.
    private static int FindBetter(DictionaryIndex index, ref int at, int lastStart, int matchesEnd, int distance, ref int found)
    {
        while (found < LongEnough && at + 1 <= lastStart)
        {
            var longer = found;
            var further = index.Find(at + 1, matchesEnd, ThoroughAttempts, ref longer);
            if (further == 0 || longer <= found)
                break;
            at++;
            index.Add(at);
            (distance, found) = (further, longer);
        }

        return distance;
    }

    // Takes bytes before the place that match as well.
    private static void Extend(byte* value, byte* start, int literals, ref int at, int distance, ref int found)
    {
        while (at > literals && value + at - distance > start && value[at - 1] == value[at - 1 - distance])
        {
            at--;
            found++;
        }
    }

    /// <summary>The block as far as it is written.</summary>
    private ref struct Output
    {
        public byte* Start;
        public byte* To;
        public byte* End;

        public bool TryWrite(byte* literals, int count, byte* sourceEnd, int distance, int length)
        {
            if (Lz4Format.SequenceLength(count, length) > End - To)
                return false;
            var match = length - Lz4Format.MinMatch;
            To = Lz4Format.WriteLiterals(To, End, literals, count, sourceEnd, Lz4Format.Nibble(match));
            System.Runtime.CompilerServices.Unsafe.WriteUnaligned(To, (ushort)distance);
            To += sizeof(ushort);
            if (match >= Lz4Format.LongLength)
                To = Lz4Format.WriteLength(To, match - Lz4Format.LongLength);
            return true;
        }

        public bool TryEnd(byte* literals, int count, byte* sourceEnd)
        {
            if (1 + Lz4Format.ExtraBytes(count) + count > End - To)
                return false;
            To = Lz4Format.WriteLiterals(To, End, literals, count, sourceEnd, 0);
            return true;
        }
    }
}
