using Voron.Compression;
using Voron.Format;

namespace Voron.Transactions;

/// <summary>A dictionary that was trained with values of a tree, and is to be installed.</summary>
/// <param name="Number">Its number in the tree, if no other one is installed before.</param>
/// <param name="Ratio">The bytes to which it compresses a million bytes.</param>
/// <param name="Bytes">Its bytes.</param>
internal sealed record TrainedDictionary(int Number, int Ratio, byte[] Bytes)
{
    /// <summary>The number of values to sample.</summary>
    public const int Samples = 1000;

    /// <summary>The length in bytes of the longest value to sample.</summary>
    public const int LongestSample = 16 << 10;

    private const int LeastSamples = 16;

    /// <summary>One of eight samples is held back to measure the dictionary.</summary>
    private const int HeldBack = 8;

    /// <summary>A dictionary must save at least another twentieth to be worth its memory.</summary>
    private const int WorthPart = 20;

    /// <summary>Trains a dictionary; null if there are too few samples, or if it saves too little compared with the current one.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="samples">Values of the tree.</param>
    /// <param name="current">The dictionary that the tree uses now; empty for none.</param>
    /// <param name="isThorough">True if values are compressed thoroughly.</param>
    /// <param name="stop">Cancels the training.</param>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    public static TrainedDictionary? TryTrain(
        int number, IReadOnlyList<byte[]> samples, ReadOnlySpan<byte> current, bool isThorough, CancellationToken stop)
    {
        if (samples.Count < LeastSamples)
            return null;
        var measured = samples.Where((_, at) => at % HeldBack == 0).ToList();
        var built = DictionaryBuilder.Build([.. samples.Where((_, at) => at % HeldBack != 0)], ValueDictionary.MaxBytes);
        stop.ThrowIfCancellationRequested();
        if (built.Length == 0)
            return null;
        var ratio = Measure(built, measured, isThorough);
        var before = Measure(current, measured, isThorough);
        return ratio <= before - before / WorthPart ? new TrainedDictionary(number, ratio, built) : null;
    }

    private static int Measure(ReadOnlySpan<byte> dictionary, List<byte[]> samples, bool isThorough)
    {
        var index = new DictionaryIndex(dictionary, new ValueStrings());
        var (packed, plain) = (0L, 0L);
        var buffer = new byte[LongestSample];
        foreach (var sample in samples)
        {
            var most = sample.Length - sample.Length / 8 - PackedValue.Size;
            var block = ValueEncoder.Compress(index, sample, buffer.AsSpan(0, most), isThorough);
            plain += sample.Length;
            packed += block == 0 ? sample.Length : block + PackedValue.Size;
        }

        return TreePacking.RatioOf(packed, plain);
    }
}
