using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The compression settings of a tree.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct CompressionSettings
{
    public const int Size = 16;

    /// <summary>0 for none, 1 for fast, 2 for thorough.</summary>
    [FieldOffset(0)]
    public byte Mode;

    /// <summary>The number of the last dictionary that the tree has had; 0 if it has never had one. No number is used twice.</summary>
    [FieldOffset(1)]
    public byte LastDictionary;

    /// <summary>Increases with each change of the mode.</summary>
    [FieldOffset(4)]
    public uint Changes;

    /// <summary>Reads settings; returns false if the bytes are not valid settings.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out CompressionSettings settings)
    {
        settings = bytes.Length == Size ? MemoryMarshal.Read<CompressionSettings>(bytes) : default;
        return bytes.Length == Size && settings.Mode <= 2 && settings.LastDictionary <= PackedValue.MostDictionaries;
    }

    public readonly byte[] ToBytes()
    {
        var bytes = new byte[Size];
        MemoryMarshal.Write(bytes, this);
        return bytes;
    }
}
