using Voron.Simulation.Harness;

namespace Voron.Torture.Damage;

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
        for (var group = 0; group < _groups.Length; group++)
        {
            var before = Count;
            for (var i = 0; i < images.Count; i++)
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
            var low = 0;
            var high = _segments.Count - 1;
            while (low < high)
            {
                var middle = (low + high + 1) / 2;
                if (_segments[middle].From <= number)
                    low = middle;
                else
                    high = middle - 1;
            }
            (var from, var image, var file, var kind) = _segments[low];
            return new Rot(image, file, kind, number - from);
        }
    }

    /// <summary>
    /// Returns the number of the damage to examine after the given number of examined ones. Each is examined once; however few are
    /// examined, they are spread evenly over each group, beginning at another place with another seed.
    /// </summary>
    public long Pick(long place, long seed)
    {
        var first = Math.Min(_groups[0], (place + Period - 1) / Period);
        var second = Math.Min(_groups[1], (place + Period - 1 - SecondAt) / Period);
        var third = Math.Min(_groups[2], (place + Period - 1 - ThirdAt) / Period);
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
        var foreign = ForeignOf(image).Files;
        foreach ((var file, var bytes) in Images[image].Files.All)
        {
            foreach (var kind in Enum.GetValues<RotKind>())
            {
                var count = Rot.CountOf(kind, bytes.Length, foreign.Has(file));
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
