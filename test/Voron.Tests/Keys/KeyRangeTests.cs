namespace Voron.Tests.Keys;

/// <summary>Ranges of keys are compared with sets: each range with those keys of a small universe that belong to it.</summary>
public sealed class KeyRangeTests
{
    /// <summary>Bytes at which orders and prefixes change.</summary>
    private static readonly byte[] BoundBytes = [0, 1, 0x61, 0xFE, 0xFF];

    /// <summary>These bytes and those that follow them, so that each range that is not empty has a key that is tried.</summary>
    private static readonly byte[] KeyBytes = [.. BoundBytes, 2, 0x62];

    private static readonly byte[][] Keys = [.. Strings(KeyBytes, 3)];

    private delegate KeyRange Restriction(KeyRange range, ReadOnlySpan<byte> bound);

    private delegate KeyRange Creation(ReadOnlySpan<byte> bound);

    private static readonly (string Name, Creation Create, Restriction Restrict, Func<byte[], byte[], bool> Has)[] Kinds =
    [
        ("From", KeyRange.From, KeyRangeExtensions.From, (key, bound) => Order(key, bound) >= 0),
        ("After", KeyRange.After, KeyRangeExtensions.After, (key, bound) => Order(key, bound) > 0),
        ("Before", KeyRange.Before, KeyRangeExtensions.Before, (key, bound) => Order(key, bound) < 0),
        ("Through", KeyRange.Through, KeyRangeExtensions.Through, (key, bound) => Order(key, bound) <= 0),
        ("Prefix", KeyRange.Prefix, KeyRangeExtensions.Prefix, (key, bound) => key.AsSpan().StartsWith(bound)),
        ("AfterPrefix", KeyRange.AfterPrefix, KeyRangeExtensions.AfterPrefix,
            (key, bound) => Order(key, bound) > 0 && !key.AsSpan().StartsWith(bound)),
    ];

    [Fact]
    public void A_range_contains_the_keys_that_its_bound_allows()
    {
        foreach (var kind in Kinds)
        {
            foreach (var bound in Bounds(3))
            {
                foreach (var key in Keys)
                    Require(kind.Create(bound).Contains(key) == kind.Has(key, bound), $"{kind.Name} {Text(bound)}", key);
            }
        }
    }

    [Fact]
    public void A_restricted_range_contains_the_keys_that_both_bounds_allow()
    {
        foreach (var first in Kinds)
        {
            foreach (var second in Kinds)
            {
                foreach (var bound in Bounds(2))
                {
                    foreach (var other in Bounds(2))
                    {
                        var range = second.Restrict(first.Create(bound), other);
                        foreach (var key in Keys)
                        {
                            // The text is made only where it is needed: there are a million of these checks.
                            if (range.Contains(key) != (first.Has(key, bound) && second.Has(key, other)))
                                Require(false, $"{first.Name} {Text(bound)} {second.Name} {Text(other)}", key);
                        }
                    }
                }
            }
        }
    }

    /// <remarks>The keys tried are longer than the bounds, so one of them is in each range that is not empty.</remarks>
    [Fact]
    public void A_range_is_empty_exactly_when_no_key_can_be_in_it()
    {
        foreach (var first in Kinds)
        {
            foreach (var second in Kinds)
            {
                foreach (var bound in Bounds(2))
                {
                    foreach (var other in Bounds(2))
                    {
                        var hasKey = Keys.Any(key => first.Has(key, bound) && second.Has(key, other));
                        var range = second.Restrict(first.Create(bound), other);
                        Require(range.IsEmpty == !hasKey, $"{first.Name} {Text(bound)} {second.Name} {Text(other)}", []);
                    }
                }
            }
        }
    }

    [Fact]
    public void The_range_of_all_keys_contains_every_key()
    {
        KeyRange.All.IsEmpty.Should().BeFalse();
        foreach (var key in Keys)
            Require(KeyRange.All.Contains(key), "All", key);
        var highest = new byte[16_000];
        highest.AsSpan().Fill(byte.MaxValue);
        KeyRange.All.Contains(highest).Should().BeTrue();
        KeyRange.Prefix([0xFF, 0xFF]).Contains(highest).Should().BeTrue();
        KeyRange.AfterPrefix([0xFF]).IsEmpty.Should().BeTrue();
    }

    [Fact]
    public void A_default_range_is_empty()
    {
        default(KeyRange).IsEmpty.Should().BeTrue();
        foreach (var key in Keys)
            Require(!default(KeyRange).Contains(key), "default", key);
        KeyRange.All.Intersect(default).IsEmpty.Should().BeTrue();
    }

    [Fact]
    public void The_empty_key_is_in_no_range()
    {
        foreach (var kind in Kinds)
        {
            foreach (var bound in Bounds(3))
                Require(!kind.Create(bound).Contains([]), $"{kind.Name} {Text(bound)}", []);
        }

        KeyRange.All.Contains([]).Should().BeFalse();
    }

    [Fact]
    public void Contradicting_bounds_make_an_empty_range()
    {
        KeyRange.From("b"u8).Before("a"u8).IsEmpty.Should().BeTrue();
        KeyRange.From("a"u8).Before("a"u8).IsEmpty.Should().BeTrue();
        KeyRange.After("a"u8).Before("a\0"u8).IsEmpty.Should().BeTrue();
        KeyRange.From("a"u8).Through("a"u8).IsEmpty.Should().BeFalse();
        KeyRange.Before(default).IsEmpty.Should().BeTrue();
        KeyRange.Through(default).IsEmpty.Should().BeTrue();
    }

    [Fact]
    public void Making_and_asking_a_range_allocates_nothing()
    {
        var bound = new byte[100];

        // They are made by the first look at them, which may be this one.
        var keys = Keys;
        var found = 0;
        ManagedAllocation.Least(() =>
        {
            foreach (var key in keys)
            {
                var range = KeyRange.Prefix(key).After(bound).Before(keys[^1]).Intersect(KeyRange.Through(bound));
                found += range.IsEmpty || range.Contains(key) ? 1 : 0;
            }
        }).Should().Be(0);
        found.Should().BePositive();
    }

    private static byte[][] Bounds(int maxLength) => [[], .. Strings(BoundBytes, maxLength)];

    private static IEnumerable<byte[]> Strings(byte[] alphabet, int maxLength)
    {
        foreach (var last in alphabet)
        {
            yield return [last];
            if (maxLength == 1)
                continue;
            foreach (var rest in Strings(alphabet, maxLength - 1))
                yield return [last, .. rest];
        }
    }

    private static int Order(byte[] key, byte[] bound) => key.AsSpan().SequenceCompareTo(bound);

    private static string Text(byte[] bytes) => $"[{Convert.ToHexString(bytes)}]";

    private static void Require(bool holds, string range, byte[] key)
    {
        if (!holds)
            Assert.Fail($"The range {range} is wrong about key {Text(key)}.");
    }
}
