
namespace Voron.Trees.Batches;

/// <summary>A waiting put: the place of its key in the buffer, with the value after the key.</summary>
internal readonly record struct WaitingPut(int Offset, int KeyLength, int ValueLength)
{
    /// <summary>The total number of bytes of key and value.</summary>
    public int Length => KeyLength + ValueLength;
}
