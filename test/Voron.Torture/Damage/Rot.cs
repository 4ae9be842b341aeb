using Voron.Simulation.Disks;

namespace Voron.Torture.Damage;

/// <summary>The ways in which stored bytes can change.</summary>
internal enum RotKind
{
    /// <summary>A bit flips.</summary>
    Bit,

    /// <summary>A block of 4 KiB becomes zeros.</summary>
    ZeroedBlock,

    /// <summary>Two blocks of a file are swapped.</summary>
    SwappedBlocks,

    /// <summary>The file is cut short at a multiple of 512 bytes.</summary>
    Cut,

    /// <summary>A block has the content of the same block of another environment.</summary>
    ForeignBlock,

    /// <summary>The file is replaced by that of another environment.</summary>
    ForeignFile,
}

/// <summary>One way in which an image is damaged.</summary>
/// <param name="Image">The number of the image.</param>
/// <param name="File">The damaged file.</param>
/// <param name="Kind">The kind of damage.</param>
/// <param name="Number">The number of the damage among all of that kind.</param>
internal readonly record struct Rot(int Image, string File, RotKind Kind, long Number)
{
    public const int BlockBytes = 4096;
    private const int CutBytes = 512;

    /// <summary>Returns the number of different damages of a kind to a file.</summary>
    public static long CountOf(RotKind kind, long length, bool hasForeign)
    {
        var blocks = (length + BlockBytes - 1) / BlockBytes;
        return kind switch
        {
            RotKind.Bit => length * 8,
            RotKind.ZeroedBlock => blocks,
            RotKind.SwappedBlocks => length / BlockBytes * (length / BlockBytes - 1) / 2,
            RotKind.Cut => (length + CutBytes - 1) / CutBytes,
            RotKind.ForeignBlock => hasForeign ? blocks : 0,
            _ => hasForeign ? 1 : 0,
        };
    }

    /// <summary>Damages a disk that has the image.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="original">The original bytes of the file.</param>
    /// <param name="foreign">The bytes of another environment's file, where the damage needs them.</param>
    /// <returns>The ranges that were damaged.</returns>
    public IReadOnlyList<(long Offset, long Length)> Apply(ImageDisk disk, byte[] original, byte[]? foreign)
    {
        var bytes = disk.Bytes(File);
        switch (Kind)
        {
            case RotKind.Bit:
                Turn(disk);
                return [(Number / 8, 1)];
            case RotKind.ZeroedBlock:
                var zeroed = BlockOf(bytes, Number);
                zeroed.Clear();
                return [(Number * BlockBytes, zeroed.Length)];
            case RotKind.SwappedBlocks:
                (var first, var second) = PairOf(Number);
                BlockOf(original, second).CopyTo(BlockOf(bytes, first));
                BlockOf(original, first).CopyTo(BlockOf(bytes, second));
                return [(first * BlockBytes, BlockBytes), (second * BlockBytes, BlockBytes)];
            case RotKind.Cut:
                disk.Replace(File, original.AsSpan(0, (int)(Number * CutBytes)));
                return [(Number * CutBytes, original.Length)];
            case RotKind.ForeignBlock:
                var target = BlockOf(bytes, Number);
                target.Clear();
                if (Number * BlockBytes < foreign!.Length)
                {
                    var source = BlockOf(foreign, Number);
                    source[..Math.Min(source.Length, target.Length)].CopyTo(target);
                }
                return [(Number * BlockBytes, target.Length)];
            default:
                disk.Replace(File, foreign);
                return [(0, long.MaxValue / 2)];
        }
    }

    /// <summary>Undoes the damage, on a disk that nothing else has changed.</summary>
    public void Undo(ImageDisk disk, byte[] original)
    {
        if (Kind == RotKind.Bit)
            Turn(disk);
        else
            disk.Replace(File, original);
    }

    private void Turn(ImageDisk disk) => disk.Bytes(File)[(int)(Number / 8)] ^= (byte)(1 << (int)(Number % 8));

    private static Span<byte> BlockOf(Span<byte> bytes, long block) =>
        bytes.Slice((int)block * BlockBytes, (int)Math.Min(BlockBytes, bytes.Length - (block * BlockBytes)));

    /// <summary>Returns a pair by its number, in the order (0, 1), (0, 2), (1, 2), (0, 3), ...</summary>
    private static (long First, long Second) PairOf(long number)
    {
        var second = (long)((1 + Math.Sqrt(1 + (8.0 * number))) / 2);
        while (second * (second - 1) / 2 > number)
            second--;
        while ((second + 1) * second / 2 <= number)
            second++;
        return (number - (second * (second - 1) / 2), second);
    }
}
