namespace Voron.Torture.Tables;

/// <summary>A row of the tables of the suites: enough fields for indexes of every kind.</summary>
/// <param name="Name">The key, where keys are text.</param>
/// <param name="Number">The key, where keys are row ids.</param>
internal sealed record TableRow(string Name, long Number)
{
    public required string City { get; init; }

    public required int Size { get; init; }

    public int? Serial { get; init; }

    public string[] Tags { get; init; } = [];

    public int[] Codes { get; init; } = [];

    public byte[] Body { get; init; } = [];

    /// <summary>The time from which on the row is expired, in milliseconds since 1970; null for never.</summary>
    public long? Expires { get; init; }

    /// <summary>
    /// What throws for this row, so that it is never stored: the name of an index, or <see cref="RowTraps.Codec"/>; null for nothing.
    /// </summary>
    public string? Trap { get; init; }

    /// <summary>Returns whether the stored fields are the same.</summary>
    public bool HasSameFields(TableRow other) =>
        Name == other.Name && Number == other.Number && City == other.City && Size == other.Size && Serial == other.Serial && Expires == other.Expires
        && Tags.SequenceEqual(other.Tags) && Codes.SequenceEqual(other.Codes) && Body.AsSpan().SequenceEqual(other.Body);

    public override string ToString() =>
        $"{Name}/{Number} city {Short(City)}, size {Size}, serial {Serial?.ToString() ?? "null"}, tags {string.Join('+', Tags)}, " +
        $"codes {string.Join('+', Codes)}, body {Body.Length}{(Expires == null ? "" : $", until {Expires}")}{(Trap == null ? "" : $", trap {Trap}")}";

    private static string Short(string text) => text.Length > 20 ? $"of {text.Length}" : text;
}
