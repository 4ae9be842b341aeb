namespace Voron.Benchmarks.Workloads;

/// <summary>Makes rows from their numbers, the same for all engines. Keys are in no order, as those of real rows.</summary>
internal sealed class PackageGenerator
{
    /// <summary>The rows that have the same source, each with a version of its own.</summary>
    public const int RowsPerSource = 4;

    /// <summary>The number of sections. That of rank r has rows in proportion to 1/r.</summary>
    public const int SectionCount = 60;

    private const int TagCount = 500;
    private const int MostTags = 6;
    private const int StemCount = 400;
    private const int Seed = 7;
    private const int TextLength = 1 << 16;
    private const int ShortestDescription = 300;
    private const int LongestDescription = 500;
    private const int MostBytes = 1 << 30;
    private const uint IdMultiplier = 0x9E37_79B1;
    private const uint SourceMultiplier = 0x85EB_CA77;

    private readonly string[] _sections;
    private readonly string[] _tags;
    private readonly string[] _stems;
    private readonly string _text;
    private readonly double[] _upTo = new double[SectionCount];

    public PackageGenerator()
    {
        var random = new Random(Seed);
        var words = new HashSet<string>(StringComparer.Ordinal);
        while (words.Count < SectionCount + TagCount + StemCount)
            words.Add(new string(random.GetItems<char>("abcdefghijklmnopqrstuvwxyz", random.Next(4, 11))));
        string[] each = [.. words];
        _sections = each[..SectionCount];
        _tags = each[SectionCount..(SectionCount + TagCount)];
        _stems = each[^StemCount..];
        _text = string.Join(' ', random.GetItems(each, TextLength / 4))[..TextLength];
        var sum = 0.0;
        for (var rank = 0; rank < SectionCount; rank++)
            _upTo[rank] = sum += 1.0 / (rank + 1);
    }

    public IReadOnlyList<string> Sections => _sections;

    public IReadOnlyList<string> Tags => _tags;

    /// <summary>Makes rows with consecutive numbers.</summary>
    public Package[] Make(int first, int count)
    {
        var rows = new Package[count];
        for (var i = 0; i < count; i++)
            rows[i] = Make(first + i);
        return rows;
    }

    /// <summary>The key of a row. No two rows have the same one, as the multiplier is odd.</summary>
    public string IdOf(int number) => Name(unchecked((uint)number * IdMultiplier));

    /// <summary>The source of a row and its neighbours.</summary>
    public string SourceOf(int number) => Name(unchecked((uint)(number / RowsPerSource) * SourceMultiplier));

    private Package Make(int number)
    {
        var random = new Random(number);
        return new Package
        {
            Id = IdOf(number),
            Section = DrawSection(random),
            Size = random.Next(MostBytes),
            Priority = random.Next(5),
            Tags = DrawTags(random),
            Source = SourceOf(number),
            Version = $"{(number % RowsPerSource) + 1}.{random.Next(20)}.{random.Next(100)}",
            Description = DrawDescription(random),
        };
    }

    private string Name(uint mixed) => $"{_stems[mixed % StemCount]}-{mixed:x8}";

    private string DrawSection(Random random)
    {
        var rank = Array.BinarySearch(_upTo, random.NextDouble() * _upTo[^1]);
        return _sections[Math.Min(rank < 0 ? ~rank : rank, SectionCount - 1)];
    }

    private string[] DrawTags(Random random)
    {
        var tags = new string[random.Next(MostTags + 1)];
        for (var i = 0; i < tags.Length; i++)
        {
            do
            {
                // The first tags are the more frequent ones.
                tags[i] = _tags[(int)(TagCount * random.NextDouble() * random.NextDouble())];
            }
            while (Array.IndexOf(tags, tags[i], 0, i) >= 0);
        }

        return tags;
    }

    private string DrawDescription(Random random)
    {
        var length = random.Next(ShortestDescription, LongestDescription);
        return _text.Substring(random.Next(TextLength - length), length);
    }
}

/// <summary>A row of the tables that are compared, much like the record of a package in a software archive.</summary>
internal sealed record Package
{
    /// <summary>The primary key.</summary>
    public required string Id { get; init; }

    /// <summary>One of a few texts: an index.</summary>
    public required string Section { get; init; }

    public required int Size { get; init; }
    public required int Priority { get; init; }

    /// <summary>None to six different ones: an index with as many keys.</summary>
    public required string[] Tags { get; init; }

    /// <summary>Together with <see cref="Version"/>, a unique index.</summary>
    public required string Source { get; init; }

    public required string Version { get; init; }
    public required string Description { get; init; }
}
