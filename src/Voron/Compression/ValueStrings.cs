namespace Voron.Compression;

/// <summary>The strings of the value that is being compressed. One object for all dictionaries of a writer.</summary>
/// <remarks>The strings of the value before are forgotten by raising the base of the positions, so that nothing needs to be cleared.</remarks>
internal sealed class ValueStrings
{
    /// <summary>The most bytes of a value that can be compressed.</summary>
    public const int MaxValueBytes = 64 << 10;

    /// <summary>The bits of the hash of a string.</summary>
    public const int HashBits = 15;

    /// <summary>The bytes of memory that it takes.</summary>
    public const int Bytes = (sizeof(int) << HashBits) + sizeof(ushort) * MaxValueBytes;

    /// <summary>The last position of each hash, counted from the base.</summary>
    public int[] Heads { get; } = new int[1 << HashBits];

    /// <summary>How far back the string before with the same hash is; 0 for none.</summary>
    public ushort[] Steps { get; } = new ushort[MaxValueBytes];

    /// <summary>The position at which the value begins. What is below it belongs to earlier values.</summary>
    public int Base { get; private set; } = 1;

    /// <summary>Forgets the value before.</summary>
    public void Begin()
    {
        if (Base <= int.MaxValue - 2 * MaxValueBytes)
        {
            Base += MaxValueBytes;
            return;
        }

        Array.Clear(Heads);
        Base = 1;
    }
}
