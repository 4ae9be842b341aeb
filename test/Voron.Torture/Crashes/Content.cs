using System.Buffers.Binary;
using System.Collections.Immutable;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Text;

namespace Voron.Torture.Crashes;

/// <summary>A value of the model: bytes that are derived from two numbers.</summary>
internal sealed record ModelValue(int Seed, int Length)
{
    private ulong? _digest;

    /// <summary>A digest that represents the value's bytes; computed once.</summary>
    public ulong Digest => _digest ??= Crashes.Digest.Of(ToBytes());

    public byte[] ToBytes()
    {
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

/// <summary>All trees with all of their entries, as of one commit. Immutable.</summary>
internal sealed class Content
{
    public static readonly Content Empty =
        new(ImmutableSortedDictionary.Create<string, ImmutableSortedDictionary<string, ModelValue>>(StringComparer.Ordinal));

    public static readonly ImmutableSortedDictionary<string, ModelValue> EmptyTree =
        ImmutableSortedDictionary.Create<string, ModelValue>(StringComparer.Ordinal);

    private ulong? _digest;

    private Content(ImmutableSortedDictionary<string, ImmutableSortedDictionary<string, ModelValue>> trees) => Trees = trees;

    public ImmutableSortedDictionary<string, ImmutableSortedDictionary<string, ModelValue>> Trees { get; }

    /// <summary>A digest that represents every tree, key and byte of the content.</summary>
    public ulong Digest => _digest ??= ComputeDigest();

    public Content With(string tree, ImmutableSortedDictionary<string, ModelValue> entries) => new(Trees.SetItem(tree, entries));

    public Content Without(string tree) => new(Trees.Remove(tree));

    /// <summary>Returns the same digest for the content of an environment.</summary>
    public static ulong DigestOf(ReadTransaction reading)
    {
        var digest = new Digest();
        foreach (var name in reading.GetTreeNames())
        {
            digest.Add(Encoding.UTF8.GetBytes(name));
            var tree = reading.OpenTree(name);
            digest.Add((ulong)tree.Count);
            foreach (var entry in tree.GetEntries())
            {
                digest.Add(entry.Key);
                digest.Add(Crashes.Digest.Of(entry.Value));
            }
        }

        return digest.Value;
    }

    /// <summary>Describes where an environment differs.</summary>
    public string Compare(ReadTransaction reading)
    {
        var text = new StringBuilder();
        var names = reading.GetTreeNames();
        if (!names.SequenceEqual(Trees.Keys))
            text.Append($"trees [{string.Join(' ', names)}] instead of [{string.Join(' ', Trees.Keys)}]; ");
        foreach (var name in names.Where(Trees.ContainsKey))
        {
            var expected = Trees[name];
            var tree = reading.OpenTree(name);
            var seen = new HashSet<string>();
            foreach (var entry in tree.GetEntries())
            {
                var key = Encoding.ASCII.GetString(entry.Key);
                seen.Add(key);
                if (!expected.TryGetValue(key, out var value))
                    text.Append($"{name}/{key} is there; ");
                else if (!entry.Value.SequenceEqual(value.ToBytes()))
                    text.Append($"{name}/{key} has {entry.Value.Length} other bytes than {value}; ");
                if (text.Length > 600)
                    return text.ToString();
            }

            foreach (var key in expected.Keys.Where(key => !seen.Contains(key)).Take(5))
                text.Append($"{name}/{key} is missing; ");
        }

        return text.Length == 0 ? "the same entries" : text.ToString();
    }

    private ulong ComputeDigest()
    {
        var digest = new Digest();
        foreach (var (name, entries) in Trees)
        {
            digest.Add(Encoding.UTF8.GetBytes(name));
            digest.Add((ulong)entries.Count);
            foreach (var (key, value) in entries)
            {
                digest.Add(Encoding.ASCII.GetBytes(key));
                digest.Add(value.Digest);
            }
        }

        return digest.Value;
    }
}

/// <summary>A fast hash of 64 bits that depends on the order of the added values.</summary>
internal struct Digest
{
    private const ulong Prime = 0x9FB21C651E98DF25;

    public ulong Value { get; private set; }

    public static ulong Of(ReadOnlySpan<byte> bytes)
    {
        var digest = new Digest();
        digest.Add(bytes);
        return digest.Value;
    }

    public void Add(ulong word) => Value = (BitOperations.RotateLeft(Value, 23) ^ word ^ 0x5851F42D4C957F2D) * Prime;

    public void Add(ReadOnlySpan<byte> bytes)
    {
        Add((ulong)bytes.Length);
        foreach (var word in MemoryMarshal.Cast<byte, ulong>(bytes))
            Add(word);
        Span<byte> rest = stackalloc byte[8];
        rest.Clear();
        bytes[(bytes.Length & ~7)..].CopyTo(rest);
        Add(BinaryPrimitives.ReadUInt64LittleEndian(rest));
    }
}
