using System.Numerics;

namespace Voron.Benchmarks.Workloads;

/// <summary>
/// Words with the frequencies of natural text: the word of rank r comes up in proportion to 1/r, and frequent words are short. Everything
/// follows from a seed, so that all engines count the same words.
/// </summary>
internal sealed class WordStream
{
    /// <summary>The number of different words.</summary>
    public const int Vocabulary = 100_000;

    private const int Seed = 5;

    private readonly byte[][] _words = new byte[Vocabulary][];
    private readonly double[] _upTo = new double[Vocabulary];

    public WordStream()
    {
        var random = new Random(Seed);
        var known = new HashSet<string>(StringComparer.Ordinal);
        var sum = 0.0;
        for (var rank = 0; rank < Vocabulary; rank++)
        {
            string word;
            do
            {
                word = MakeWord(random, rank);
            }
            while (!known.Add(word));
            _words[rank] = [.. word.Select(letter => (byte)letter)];
            _upTo[rank] = sum += 1.0 / (rank + 1);
        }
    }

    /// <summary>All words, each once, in no particular order.</summary>
    public byte[][] Each()
    {
        var words = (byte[][])_words.Clone();
        new Random(Seed).Shuffle(words);
        return words;
    }

    /// <summary>Draws a number of words.</summary>
    public byte[][] Draw(int count, int seed)
    {
        var random = new Random(seed);
        var drawn = new byte[count][];
        for (var i = 0; i < count; i++)
            drawn[i] = Next(random);
        return drawn;
    }

    /// <summary>Draws the words of documents, one document after the other. The words of a document differ.</summary>
    public byte[][] DrawDocuments(int documents, int wordsEach, int seed)
    {
        var random = new Random(seed);
        var drawn = new byte[documents * wordsEach][];
        for (var i = 0; i < drawn.Length; i++)
        {
            var begin = i - (i % wordsEach);
            do
            {
                drawn[i] = Next(random);
            }
            while (Array.IndexOf(drawn, drawn[i], begin, i - begin) >= 0);
        }

        return drawn;
    }

    private byte[] Next(Random random)
    {
        var rank = Array.BinarySearch(_upTo, random.NextDouble() * _upTo[^1]);
        return _words[Math.Min(rank < 0 ? ~rank : rank, Vocabulary - 1)];
    }

    private static string MakeWord(Random random, int rank)
    {
        var length = 2 + (BitOperations.Log2((uint)rank + 1) / 2) + random.Next(3);
        return new string(random.GetItems<char>("abcdefghijklmnopqrstuvwxyz", length));
    }
}
