namespace Voron.Simulation.Memory;

/// <summary>A block of the guarded allocator, or an address range that it has noted.</summary>
internal sealed class GuardedBlock(nint address, nuint bytes, nint raw, nuint rawBytes)
{
    public nint Address => address;

    public nuint Bytes => bytes;

    /// <summary>The start of the memory with the canaries.</summary>
    public nint Raw => raw;

    public nuint RawBytes => rawBytes;

    public bool IsAligned { get; set; }

    /// <summary>True if the block has its own memory pages, between two inaccessible ones.</summary>
    public bool IsMapped { get; init; }

    /// <summary>True for an address range without canaries.</summary>
    public bool IsRange { get; init; }

    public bool IsFreed { get; set; }

    public long Number { get; set; }

    public long Since { get; set; }

    public string? Origin { get; set; }

    public override string ToString() => $"block {Number} of {Bytes} bytes{(Origin is null ? "" : $", taken {Origin}")}";
}
