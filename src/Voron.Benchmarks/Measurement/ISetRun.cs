namespace Voron.Benchmarks.Measurement;

/// <summary>What runs of sets have in common, whatever the sets hold.</summary>
internal interface ISetRun
{
    /// <summary>The engine and its way.</summary>
    string Way { get; }

    /// <summary>The number of pairs of a word and what its set holds.</summary>
    long Pairs { get; }

    /// <summary>The time of adding a pair, with its share of the commit.</summary>
    double AddNanoseconds { get; }

    /// <summary>The bytes that the process wrote for a pair, by whatever thread.</summary>
    double WrittenBytes { get; }

    /// <summary>The bytes in use for a pair, once everything has been written back.</summary>
    double BytesPerPair { get; }

    /// <summary>The number of elements of the large set.</summary>
    int LargeSet { get; }
}
