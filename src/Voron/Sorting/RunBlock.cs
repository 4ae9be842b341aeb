using System.Runtime.InteropServices;
using Voron.Compression;
using Voron.Format;
using Voron.IO;

namespace Voron.Sorting;

/// <summary>The header of a block of a run, followed by its entries, compressed where that makes them shorter.</summary>
/// <remarks>
/// <code>
///    0  8  checksum of the rest of the header and of the stored bytes; its seed is the offset of the block in the file
///    8  4  stored bytes after the header
///   12  4  bytes of the entries; equal to the stored bytes if they are not compressed
///   16  8  zeros
/// </code>
/// Zeros fill the last sector, so that blocks begin at sectors.
///
/// An entry is the number of bytes that its key shares with the key before it, the number of its other bytes, and the length of the value, each as a
/// number of seven bits a byte; then those bytes and the value. The first key of a block shares none.
/// </remarks>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct RunBlock
{
    /// <summary>In bytes.</summary>
    public const int Size = 24;

    /// <summary>The length of the longest number.</summary>
    public const int MaxNumberBytes = 5;

    /// <summary>The bytes that are stored for an entry at most, besides its key and its value.</summary>
    public const int MaxBytesBeside = 3 * MaxNumberBytes;

    [FieldOffset(0)]
    public ulong Sum;

    [FieldOffset(8)]
    public int StoredBytes;

    [FieldOffset(12)]
    public int EntryBytes;

    [FieldOffset(16)]
    private readonly ulong _spare;

    /// <summary>The offset of the checksummed bytes.</summary>
    private const int SumStart = sizeof(ulong);

    /// <summary>Returns the length of a block in the file.</summary>
    /// <param name="storedBytes">The stored bytes after the header.</param>
    public static int LengthOf(int storedBytes) => (int)DiskRules.RoundUp(Size + (long)storedBytes, DiskRules.Alignment);

    /// <summary>Computes the checksum of a block.</summary>
    /// <param name="block">The block, with its stored bytes.</param>
    /// <param name="offset">Its place in the file.</param>
    public static ulong SumOf(RunBlock* block, long offset) =>
        Checksum.Compute((byte*)block + SumStart, (nuint)(Size - SumStart + block->StoredBytes), Checksum.Seed(0, offset));

    /// <summary>Decompresses the entries. Returns false if they are damaged.</summary>
    /// <param name="block">The block, with its stored bytes.</param>
    /// <param name="target">Receives the entries.</param>
    public static bool TryUnpack(RunBlock* block, byte* target) =>
        Lz4Block.Decompress((byte*)block + Size, block->StoredBytes, target, block->EntryBytes) == block->EntryBytes;

    /// <summary>Appends a number, and returns the place after it.</summary>
    public static byte* WriteNumber(byte* at, uint number)
    {
        for (; number >= 0x80; number >>= 7)
            *at++ = (byte)(number | 0x80);
        *at++ = (byte)number;
        return at;
    }

    /// <summary>Reads a number, and moves behind it. A damaged one is any number; nothing from the end on is read.</summary>
    public static uint ReadNumber(ref byte* at, byte* end)
    {
        uint number = 0;
        for (var shift = 0; at < end && shift < 8 * sizeof(uint); shift += 7)
        {
            uint next = *at++;
            number |= (next & 0x7F) << shift;
            if (next < 0x80)
                break;
        }

        return number;
    }
}
