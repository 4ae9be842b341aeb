using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Engines;

/// <summary>Reads one snapshot after another. A returned span is valid until the next call on the reader.</summary>
internal abstract class BenchmarkReader : IDisposable
{
    public abstract void Begin();

    public abstract void End();

    public abstract bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    /// <summary>Gets the first <paramref name="count"/> keys of a buffer in one call, if the engine has such a call.</summary>
    /// <returns>The number of keys found.</returns>
    public virtual int GetMany(ItemBuffer keys, int count, ref ContentChecksum checksum) => GetEach(keys, count, ref checksum);

    /// <summary>Gets the first <paramref name="count"/> keys of a buffer one by one.</summary>
    /// <returns>The number of keys found.</returns>
    public int GetEach(ItemBuffer keys, int count, ref ContentChecksum checksum)
    {
        var found = 0;
        var sum = checksum;
        for (var i = 0; i < count; i++)
        {
            if (!TryGet(keys.Key(i), out var value))
                continue;
            sum.Add(value);
            found++;
        }
        checksum = sum;
        return found;
    }

    public abstract bool MoveFirst(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveLast(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MoveNext(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract bool MovePrevious(out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);

    public abstract void Dispose();
}
