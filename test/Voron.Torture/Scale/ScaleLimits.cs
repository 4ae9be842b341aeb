using Voron.Simulation.Harness;

namespace Voron.Torture.Scale;

/// <summary>The allowed cost of an operation in a store of a given number of pages.</summary>
internal static class ScaleLimits
{
    private const long Mebibyte = 1 << 20;

    // A bit for each page, a bit for each tree id.
    private const int PagesPerVerifiedByte = 4;

    // A name, twice.
    private const int BytesPerTree = 250;

    private const long FixedVerification = 256 << 10;

    /// <summary>
    /// Independent of the size: scratch memory and journal buffers for the writes of the run, at most some 64 MiB between two flushes, the
    /// value that it writes, and garbage that the collector leaves for later.
    /// </summary>
    private const long FixedMemory = 256 * Mebibyte;

    /// <summary>Bytes for one page: heads of versions, section bounds, bits of verification. A mass deletion needs half of it.</summary>
    private const int MemoryPerPage = 16;

    /// <summary>Catalog, tree, some groups of sections; never all of them.</summary>
    private const long OpeningReads = 2 * Mebibyte;

    /// <summary>The longest time that a small commit may take during an operation, where the machine has a processor for it.</summary>
    public static readonly TimeSpan LongestStall = TimeSpan.FromSeconds(1);

    /// <exception cref="BrokenPromiseException">The operation costs more.</exception>
    public static void Check(ScaleResult result, long pages, int trees)
    {
        var operation = result.Operation;
        if (operation.StartsWith("verify", StringComparison.Ordinal))
        {
            var allowed = (pages / PagesPerVerifiedByte) + FixedVerification + ((long)trees * BytesPerTree);
            Require(result.Allocated, allowed, operation, "bytes of managed memory");
        }
        if (operation.StartsWith("open", StringComparison.Ordinal) || operation.StartsWith("first", StringComparison.Ordinal))
            Require(result.Read, OpeningReads, operation, "bytes of the data file read");
        Require(result.Resident, FixedMemory + (pages * MemoryPerPage), operation, "bytes of memory");
        if (result.LongestStall is { } stall)
        {
            BrokenPromiseException.Require(
                stall < LongestStall + result.Noise,
                $"{operation}: a commit took {stall.TotalMilliseconds:0} ms, and no thread was without a processor for more than {result.Noise.TotalMilliseconds:0} ms.");
        }
    }

    private static void Require(long needed, long allowed, string operation, string what) =>
        BrokenPromiseException.Require(needed <= allowed, $"{operation}: {needed} {what}, and the limit is {allowed}.");
}
