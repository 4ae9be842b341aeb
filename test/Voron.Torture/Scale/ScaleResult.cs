using System.Globalization;

namespace Voron.Torture.Scale;

/// <summary>What an operation has cost in a store of some size.</summary>
/// <param name="Operation">What was done.</param>
/// <param name="Seconds">How long it took.</param>
/// <param name="Allocated">Bytes of managed memory that its thread asked for in all, given back meanwhile or not.</param>
/// <param name="Resident">
/// The most bytes that the process has meanwhile, over what it had before the store was opened: all that the engine keeps, and what the
/// collector has not collected yet; files left out.
/// </param>
/// <param name="Read">Bytes of the data file that were read.</param>
internal sealed record ScaleResult(string Operation, double Seconds, long Allocated, long Resident, long Read)
{
    public const string Header =
        "| operation | seconds | managed memory asked for, MiB | memory of the process, at most, MiB | read of the data file, MiB | " +
        "longest commit meanwhile, ms | of that, at most, no processor, ms |";

    public const string Line = "|---|---:|---:|---:|---:|---:|---:|";

    /// <summary>The longest that a small commit took meanwhile; null when none was made.</summary>
    public TimeSpan? LongestStall { get; init; }

    /// <summary>The longest for which a thread that did nothing got no processor.</summary>
    public TimeSpan Noise { get; init; }

    public string ToRow() => string.Create(
        CultureInfo.InvariantCulture,
        $"| {Operation} | {Seconds:0.00} | {Mebibytes(Allocated)} | {Mebibytes(Resident)} | {Mebibytes(Read)} | {Milliseconds(LongestStall)} | " +
        $"{(LongestStall is null ? "" : Milliseconds(Noise))} |");

    private static string Mebibytes(long bytes) => (bytes / (double)(1 << 20)).ToString("#,0.0", CultureInfo.InvariantCulture);

    private static string Milliseconds(TimeSpan? time) => time?.TotalMilliseconds.ToString("#,0", CultureInfo.InvariantCulture) ?? "";
}
