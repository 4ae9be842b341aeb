using Voron.Torture.Harness;

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
        long blocks = (length + BlockBytes - 1) / BlockBytes;
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
        Span<byte> bytes = disk.Bytes(File);
        switch (Kind)
        {
            case RotKind.Bit:
                Turn(disk);
                return [(Number / 8, 1)];
            case RotKind.ZeroedBlock:
                Span<byte> zeroed = BlockOf(bytes, Number);
                zeroed.Clear();
                return [(Number * BlockBytes, zeroed.Length)];
            case RotKind.SwappedBlocks:
                (long first, long second) = PairOf(Number);
                BlockOf(original, second).CopyTo(BlockOf(bytes, first));
                BlockOf(original, first).CopyTo(BlockOf(bytes, second));
                return [(first * BlockBytes, BlockBytes), (second * BlockBytes, BlockBytes)];
            case RotKind.Cut:
                disk.Replace(File, original.AsSpan(0, (int)(Number * CutBytes)));
                return [(Number * CutBytes, original.Length)];
            case RotKind.ForeignBlock:
                Span<byte> target = BlockOf(bytes, Number);
                target.Clear();
                if (Number * BlockBytes < foreign!.Length)
                {
                    Span<byte> source = BlockOf(foreign, Number);
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
        long second = (long)((1 + Math.Sqrt(1 + (8.0 * number))) / 2);
        while (second * (second - 1) / 2 > number)
            second--;
        while ((second + 1) * second / 2 <= number)
            second++;
        return (number - (second * (second - 1) / 2), second);
    }
}

/// <summary>All damages of all images, by number: those of blocks and files, bits of the header file, swapped blocks, other bits.</summary>
internal sealed class RotList
{
    // Of ten damages examined, one is from each of the small groups as long as they last: there are far more bits.
    private const int Period = 10;
    private const int SecondAt = 3;
    private const int ThirdAt = 5;

    private readonly List<(long From, int Image, string File, RotKind Kind)> _segments = [];
    private readonly long[] _groups = new long[4];

    public RotList(IReadOnlyList<StoreImage> images)
    {
        Images = images;
        for (int group = 0; group < _groups.Length; group++)
        {
            long before = Count;
            for (int i = 0; i < images.Count; i++)
                AddImage(group, i);
            _groups[group] = Count - before;
        }
    }

    public IReadOnlyList<StoreImage> Images { get; }

    public long Count { get; private set; }

    public Rot this[long number]
    {
        get
        {
            int low = 0;
            int high = _segments.Count - 1;
            while (low < high)
            {
                int middle = (low + high + 1) / 2;
                if (_segments[middle].From <= number)
                    low = middle;
                else
                    high = middle - 1;
            }
            (long from, int image, string file, RotKind kind) = _segments[low];
            return new Rot(image, file, kind, number - from);
        }
    }

    /// <summary>
    /// Returns the number of the damage to examine after the given number of examined ones. Each is examined once; however few are
    /// examined, they are spread evenly over each group, beginning at another place with another seed.
    /// </summary>
    public long Pick(long place, long seed)
    {
        long first = Math.Min(_groups[0], (place + Period - 1) / Period);
        long second = Math.Min(_groups[1], (place + Period - 1 - SecondAt) / Period);
        long third = Math.Min(_groups[2], (place + Period - 1 - ThirdAt) / Period);
        if (place % Period == 0 && first < _groups[0])
            return EvenSpread.At(first, seed, _groups[0]);
        if (place % Period == SecondAt && second < _groups[1])
            return _groups[0] + EvenSpread.At(second, seed, _groups[1]);
        if (place % Period == ThirdAt && third < _groups[2])
            return _groups[0] + _groups[1] + EvenSpread.At(third, seed, _groups[2]);
        return _groups[0] + _groups[1] + _groups[2] + EvenSpread.At(place - first - second - third, seed, _groups[3]);
    }

    /// <summary>Returns the environment from which foreign bytes are taken.</summary>
    public StoreImage ForeignOf(int image) => Images[(image + 1) % Images.Count];

    private void AddImage(int group, int image)
    {
        StoreFiles foreign = ForeignOf(image).Files;
        foreach ((string file, byte[] bytes) in Images[image].Files.All)
        {
            foreach (RotKind kind in Enum.GetValues<RotKind>())
            {
                long count = Rot.CountOf(kind, bytes.Length, foreign.Has(file));
                if (count == 0 || GroupOf(file, kind) != group)
                    continue;
                _segments.Add((Count, image, file, kind));
                Count += count;
            }
        }
    }

    private static int GroupOf(string file, RotKind kind) => kind switch
    {
        RotKind.Bit => file == ForgedStore.HeaderFile ? 1 : 3,
        RotKind.SwappedBlocks => 2,
        _ => 0,
    };
}
