using System.Runtime.Intrinsics;

namespace Voron.Trees.Pages;

/// <summary>Finds a key among the keys of an array page.</summary>
internal static unsafe class ArraySearch
{
    // Below this number of keys it is faster to compare all of them, a vector at a time, than to continue halving.
    private const int ComparedAtOnce = 32;

    /// <summary>Returns the number of keys below the given one, among keys in ascending order.</summary>
    public static int CountBelow(long* keys, int count, long key)
    {
        var from = keys;
        while (count > ComparedAtOnce)
        {
            // No branch depends on the comparison: half of those branches would be mispredicted.
            var half = count >>> 1;
            from += from[half - 1] < key ? half : 0;
            count -= half;
        }

        return (int)(from - keys) + CountAllBelow(from, count, key);
    }

    /// <summary>Does the same for keys in cells listed by an order with one byte for each cell number.</summary>
    public static int CountBelow(long* keys, byte* order, int count, long key)
    {
        var from = order;
        while (count > 0)
        {
            var half = (count + 1) >>> 1;
            from += keys[from[half - 1]] < key ? half : 0;
            count -= half;
        }

        return (int)(from - order);
    }

    /// <summary>Does the same for keys in cells listed by an order with two bytes for each cell number.</summary>
    public static int CountBelow(long* keys, ushort* order, int count, long key)
    {
        var from = order;
        while (count > 0)
        {
            var half = (count + 1) >>> 1;
            from += keys[from[half - 1]] < key ? half : 0;
            count -= half;
        }

        return (int)(from - order);
    }

    private static int CountAllBelow(long* keys, int count, long key)
    {
        var below = 0;
        var i = 0;
        if (Vector512.IsHardwareAccelerated)
        {
            var wanted = Vector512.Create(key);
            var sum = Vector512<long>.Zero;
            for (; i <= count - Vector512<long>.Count; i += Vector512<long>.Count)
                sum += Vector512.LessThan(Vector512.Load(keys + i), wanted);
            below = -(int)Vector512.Sum(sum);
        }
        else if (Vector256.IsHardwareAccelerated)
        {
            var wanted = Vector256.Create(key);
            var sum = Vector256<long>.Zero;
            for (; i <= count - Vector256<long>.Count; i += Vector256<long>.Count)
                sum += Vector256.LessThan(Vector256.Load(keys + i), wanted);
            below = -(int)Vector256.Sum(sum);
        }

        for (; i < count; i++)
            below += keys[i] < key ? 1 : 0;
        return below;
    }
}
