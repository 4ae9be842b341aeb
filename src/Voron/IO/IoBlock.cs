namespace Voron.IO;

/// <summary>A range of native memory to write to a file.</summary>
internal readonly unsafe struct IoBlock
{
    public readonly byte* Address;

    /// <summary>In bytes.</summary>
    public readonly nuint Length;

    public IoBlock(byte* address, nuint length)
    {
        Address = address;
        Length = length;
    }
}
