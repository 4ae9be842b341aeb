namespace Voron.Torture.Tables;

/// <summary>Draws rows whose keys meet often enough.</summary>
/// <param name="random">Makes the choices.</param>
/// <param name="keys">The number of different primary keys.</param>
/// <param name="hasLongBodies">True if some rows have values of many pages.</param>
/// <param name="hasRareKeys">True if two rows hardly ever have the same key in a unique index.</param>
internal sealed class RowDrawer(Random random, int keys, bool hasLongBodies, bool hasRareKeys = false)
{
    /// <summary>No row that is stored has more bytes.</summary>
    public const int MostBytes = 32_000;

    /// <summary>The length of a text that is longer than any key.</summary>
    public const int TooLong = 20_000;

    private const int UsualSizes = 500;
    private const int ManySizes = 20_000;
    private const int LongestLife = 20_000;

    private readonly int _numbers = keys * (hasRareKeys ? 2_000 : 8);

    // Nothing of it comes twice, so that only a dictionary makes much of a short value.
    private static readonly byte[] Phrase = "No page of the journal waits until 4,096 others have been flushed by X."u8.ToArray();

    private static readonly string[] Cities = ["Aachen", "Bonn", "Celle", "Köln", "Lübeck", "Ulm", "Ülm", ""];
    private static readonly string[] Tags = ["a", "b", "bb", "c", "ca", "d"];

    /// <summary>The time, in milliseconds since 1970, after which rows expire; null if they have no times.</summary>
    public Func<long>? Now { get; set; }

    /// <summary>How the definitions have the rows compressed. Half of the bodies can be, if they are.</summary>
    public ValueCompression Compression { get; private set; }

    /// <summary>Draws how the definitions from here on have the rows compressed.</summary>
    public void DrawCompression() => Compression = (ValueCompression)random.Next(3);

    /// <summary>Draws a row with the key of number <paramref name="key"/>.</summary>
    public TableRow Draw(int key)
    {
        var tags = new string[random.Next(4)];
        for (var i = 0; i < tags.Length; i++)
            tags[i] = Tags[random.Next(Tags.Length)];
        var codes = new int[random.Next(4)];
        for (var i = 0; i < codes.Length; i++)
            codes[i] = random.Next(_numbers);
        return new TableRow(NameOf(key), key)
        {
            City = Cities[random.Next(Cities.Length)],
            Size = random.Next(hasRareKeys && random.Next(4) > 0 ? ManySizes : UsualSizes),
            Serial = DrawSerial(),
            Tags = tags,
            Codes = codes,
            Body = DrawBody(),
            Expires = DrawExpires(),
        };
    }

    /// <summary>Draws a number of a key.</summary>
    public int DrawKey() => random.Next(keys);

    /// <summary>Changes one of the fields, or none of them.</summary>
    public TableRow Change(TableRow row)
    {
        var other = Draw(0);
        if (Now != null && random.Next(6) == 5)
            return row with { Expires = other.Expires };
        return random.Next(8) switch
        {
            1 => row with { Size = row.Size + 1 },
            2 => row with { City = other.City },
            3 => row with { Tags = other.Tags },
            4 => row with { Codes = other.Codes },
            5 => row with { Serial = other.Serial },
            6 => row with { Body = other.Body },
            7 => other with { Name = row.Name, Number = row.Number },
            _ => row,
        };
    }

    /// <summary>Makes a row that is refused whatever the table has.</summary>
    public TableRow Spoil(TableRow row) => random.Next(5) switch
    {
        1 => row with { Trap = RowTraps.Codec },
        2 => row with { City = new string('x', TooLong), Trap = TableIndex.Plain },
        3 => row with { Name = "", Number = -1 - random.Next(3) },
        _ => row with { Trap = TableIndex.Names[random.Next(TableIndex.Names.Count)] },
    };

    private static string NameOf(int key) => key % 7 == 3 ? $"n{key}{new string('-', key % 90)}" : $"n{key}";

    private int? DrawSerial() => random.Next(12) switch
    {
        < 4 => null,
        4 when !hasRareKeys => 0,
        _ => random.Next(_numbers),
    };

    private long? DrawExpires() => Now != null && random.Next(3) > 0 ? Now() + random.Next(1, LongestLife) : null;

    private byte[] DrawBody()
    {
        var length = random.Next(8) switch
        {
            < 3 => 0,
            < 7 => random.Next(120),
            _ => hasLongBodies ? random.Next(random.Next(4) == 3 ? 30_000 : 3_000) : random.Next(400),
        };
        var body = new byte[length];
        if (length == 0)
            return body;
        if (Compression == ValueCompression.None || random.Next(2) == 0)
        {
            random.NextBytes(body);
            return body;
        }

        var first = random.Next(Phrase.Length);
        for (var i = 0; i < length; i++)
            body[i] = Phrase[(first + i) % Phrase.Length];
        return body;
    }
}
