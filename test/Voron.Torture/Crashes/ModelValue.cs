namespace Voron.Torture.Crashes;

/// <summary>A value of the model: bytes that are derived from two numbers, or a counter.</summary>
internal sealed record ModelValue(int Seed, int Length)
{
    private ulong? _digest;

    /// <summary>The number that a counter has reached; null if the value is none.</summary>
    public long? Counter { get; init; }

    /// <summary>A digest that represents the value's bytes; computed once.</summary>
    public ulong Digest => _digest ??= Crashes.Digest.Of(ToBytes());

    public byte[] ToBytes()
    {
        if (Counter is { } counter)
            return BitConverter.GetBytes(counter);
        var bytes = new byte[Length];
        var state = ((ulong)(uint)Seed << 32 | (uint)Length) * 0x9E3779B97F4A7C15 + 1;
        for (var at = 0; at < Length; at += 8)
        {
            state = (state ^ (state >> 29)) * 0xBF58476D1CE4E5B9;
            // Strings of zeros, as in values that compress and pages that are diffed.
            var word = (state >> 60) == 0 ? 0 : state;
            for (var i = at; i < Math.Min(Length, at + 8); i++)
                bytes[i] = (byte)(word >> (8 * (i - at)));
        }

        return bytes;
    }
}
