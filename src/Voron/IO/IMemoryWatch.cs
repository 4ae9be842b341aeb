namespace Voron.IO;

/// <summary>A hook of a test between the engine and the system's memory.</summary>
internal interface IMemoryWatch
{
    /// <summary>Returns false when there is no memory for this number of bytes.</summary>
    bool Allows(nuint bytes);

    void Taken(nint address, nuint bytes);

    void Freed(nint address);
}
