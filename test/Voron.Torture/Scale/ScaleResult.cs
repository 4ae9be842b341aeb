using System.Globalization;

namespace Voron.Torture.Scale;

/// <summary>The cost of an operation in a store of some size.</summary>
/// <param name="Operation">The operation.</param>
/// <param name="Seconds">The duration.</param>
/// <param name="Allocated">The total managed memory that its thread allocated, in bytes, whether freed meanwhile or not.</param>
/// <param name="Resident">The most memory of the process meanwhile, in bytes, above that before the store was opened: all memory that the
/// engine keeps, and garbage that the collector has not collected yet, without files.</param>
/// <param name="Read">The number of bytes read from the data file.</param>
internal sealed record ScaleResult(string Operation, double Seconds, long Allocated, long Resident, long Read)
{
    public const string Header =
        "| operation | seconds | managed memory asked for, MiB | memory of the process, at most, MiB | read of the data file, MiB | " +
        "longest commit meanwhile, ms | of that, at most, no processor, ms |";

    public const string Line = "|---|---:|---:|---:|---:|---:|---:|";

    /// <summary>The longest time that a small commit took meanwhile; null if none was made.</summary>
    public TimeSpan? LongestStall { get; init; }

    /// <summary>The longest time for which an idle thread got no processor.</summary>
    public TimeSpan Noise { get; init; }

    public string ToRow() => string.Create(
        CultureInfo.InvariantCulture,
        $"| {Operation} | {Seconds:0.00} | {Mebibytes(Allocated)} | {Mebibytes(Resident)} | {Mebibytes(Read)} | {Milliseconds(LongestStall)} | " +
        $"{(LongestStall is null ? "" : Milliseconds(Noise))} |");

    private static string Mebibytes(long bytes) => (bytes / (double)(1 << 20)).ToString("#,0.0", CultureInfo.InvariantCulture);

    private static string Milliseconds(TimeSpan? time) => time?.TotalMilliseconds.ToString("#,0", CultureInfo.InvariantCulture) ?? "";
}
