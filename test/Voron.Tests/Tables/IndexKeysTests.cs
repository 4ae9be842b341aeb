using Voron.Tables;
using Voron.Tests.Keys;

namespace Voron.Tests.Tables;

/// <summary>The keys that the function of an index adds, as they arrive in the list of the transaction.</summary>
[Quick]
public sealed class IndexKeysTests
{
    private const int MaxKeyLength = 40;

    private delegate void Adding(ref IndexKeys keys);

    [Fact]
    public void Keys_are_those_that_a_writer_makes()
    {
        using var list = Fill(static (ref keys) =>
        {
            keys.Add("a");
            keys.Add("a\0".AsSpan());
            keys.Add([1, 2]);
            keys.Begin().Add("b").AddDescending(7);
            keys.Begin().Add(1).AddNull();
            keys.Add(true);
        });
        Texts(list).Should().Equal("6100", "61010100", "01020200", "62007FFFFFF8", "8000000100", "01");
        Enumerable.Range(0, list.Count).Select(list.HasNull).Should().Equal(false, false, false, false, true, false);
        list.HasEmptyKey.Should().BeFalse();
    }

    [Fact]
    public void Each_type_has_the_bytes_that_a_writer_makes()
    {
        var id = new Guid("00112233-4455-6677-8899-aabbccddeeff");
        var now = new DateTimeOffset(2026, 3, 29, 2, 30, 59, 123, 456, TimeSpan.Zero);
        using var list = Fill((ref keys) =>
        {
            keys.Add(false);
            keys.Add((sbyte)1);
            keys.Add((byte)2);
            keys.Add((short)3);
            keys.Add((ushort)4);
            keys.Add(5);
            keys.Add(6U);
            keys.Add(7L);
            keys.Add(8UL);
            keys.Add((Int128)9);
            keys.Add((UInt128)10);
            keys.Add((Half)11);
            keys.Add(12f);
            keys.Add(13d);
            keys.Add(14.5m);
            keys.Add(id);
            keys.Add(now.UtcDateTime);
            keys.Add(now);
            keys.Add(DateOnly.MaxValue);
            keys.Add(TimeOnly.MaxValue);
            keys.Add(TimeSpan.MinValue);
        });
        var values = new object[]
        {
            false, (sbyte)1, (byte)2, (short)3, (ushort)4, 5, 6U, 7L, 8UL, (Int128)9, (UInt128)10, (Half)11, 12f, 13d, 14.5m, id, now.UtcDateTime,
            now, DateOnly.MaxValue, TimeOnly.MaxValue, TimeSpan.MinValue,
        };
        Texts(list).Should().Equal(values.Select(value => Convert.ToHexString(KeyFields.Named(value.GetType().Name).Encode(value))));
    }

    [Fact]
    public void Sorting_removes_keys_that_are_there_twice()
    {
        var random = new Random(2);
        using var list = new IndexKeyList(MaxKeyLength);
        for (var round = 0; round < SuiteShare.Rounds(500); round++)
        {
            var keys = Enumerable.Range(0, random.Next(30)).Select(_ => RandomKey(random)).ToList();
            list.Clear();
            foreach (var key in keys)
            {
                key.CopyTo(list.Begin());
                list.End(key.Length, false);
            }

            list.SortDistinct();
            Texts(list).Should().Equal(keys.Select(Convert.ToHexString).Distinct().Order(StringComparer.Ordinal));
        }

        static byte[] RandomKey(Random random)
        {
            var key = new byte[random.Next(1, 4)];
            foreach (ref var value in key.AsSpan())
                value = (byte)(random.Next(3) * 127);
            return key;
        }
    }

    [Fact]
    public void Of_equal_keys_the_one_without_a_null_binds()
    {
        foreach (var nullFirst in new[] { true, false })
        {
            using var list = Fill((ref keys) =>
            {
                keys.Begin().Add((byte)9);
                for (var i = 0; i < 2; i++)
                    _ = nullFirst == (i == 0) ? keys.Begin().AddNull().WrittenCount : keys.Begin().Add((byte)0).WrittenCount;
            });
            list.SortDistinct();
            Texts(list).Should().Equal("00", "09");
            list.HasNull(0).Should().BeFalse();
        }
    }

    [Fact]
    public void A_null_that_was_cut_off_is_none()
    {
        using var list = Fill(static (ref keys) =>
        {
            ref var key = ref keys.Begin();
            key.Add(1).AddNull().AddNull().Truncate(4);
            key = ref keys.Begin();
            key.AddNullDescending().Add(1).Truncate(4);
            key = ref keys.Begin();
            key.AddNull().Clear();
            key.Add(1);
            keys.Begin().AddNotNull().AddNotNullDescending();
        });
        Enumerable.Range(0, list.Count).Select(list.HasNull).Should().Equal(false, true, false, false);
        Texts(list)[1].Should().Be("FF800000");
    }

    [Fact]
    public void A_key_without_bytes_is_noted_and_left_out()
    {
        using var list = Fill(static (ref keys) =>
        {
            keys.Add(1);
            keys.Begin();
            keys.Begin().AddPrefix("");
        });
        (list.Count, list.HasEmptyKey).Should().Be((1, true));
        list.Clear();
        (list.Count, list.HasEmptyKey).Should().Be((0, false));
    }

    [Fact]
    public void A_copy_of_the_writer_adds_nothing()
    {
        using var list = Fill(static (ref keys) =>
        {
            var copy = keys.Begin();
            copy.Add(1);
        });
        (list.Count, list.HasEmptyKey).Should().Be((0, true));
    }

    [Fact]
    public void A_key_that_is_too_long_is_known_from_other_failures()
    {
        Fails<InvalidOperationException>(static (ref keys) => keys.Add(new string('x', MaxKeyLength))).Should().BeTrue();
        Fails<InvalidOperationException>(static (ref keys) => keys.Begin().Add(new byte[30]).Add(Guid.Empty)).Should().BeTrue();
        Fails<InvalidOperationException>(static (ref keys) => keys.Begin().Add(new byte[19]).AddDescending(1)).Should().BeTrue();
        Fails<InvalidOperationException>(static (ref keys) =>
        {
            keys.Begin().Add(5);
            throw new InvalidOperationException("Another failure.");
        }).Should().BeFalse();
        Fails<ArgumentNullException>(static (ref keys) => keys.Add((string)null!)).Should().BeFalse();
        Fails<ArgumentException>(static (ref keys) => keys.Add("\uD800")).Should().BeFalse();
        Fails<InvalidOperationException>(static (ref keys) =>
        {
            ref var key = ref keys.Begin();
            keys.Add(1);
            key.Add(2);
        }).Should().BeFalse("the writer of an earlier key refuses every field");
        using var list = Fill(static (ref keys) => keys.Add(new string('x', MaxKeyLength - 1)));
        list[0].Length.Should().Be(MaxKeyLength);
    }

    [Fact]
    public void Default_keys_take_none() => Assert.Throws<InvalidOperationException>(static () => default(IndexKeys).Add(1));

    [Fact]
    public void A_list_can_be_used_after_its_disposal()
    {
        var list = Fill(static (ref keys) => keys.Add(1));
        list.Dispose();
        list.Count.Should().Be(0);
        var keys = new IndexKeys(list);
        keys.Add(2);
        keys.Finish();
        Texts(list).Should().Equal("80000002");
        Assert.Throws<IndexOutOfRangeException>(() => { _ = list[1].Length; });
        list.Dispose();
    }

    [Fact]
    public void Adding_and_sorting_keys_allocates_nothing()
    {
        using var list = new IndexKeyList(960);
        AddAndSort(list);
        AddAndSort(list);
        ManagedAllocation.Least(() =>
        {
            for (var i = 0; i < 100; i++)
                AddAndSort(list);
        }).Should().Be(0);
    }

    private static void AddAndSort(IndexKeyList list)
    {
        list.Clear();
        var keys = new IndexKeys(list);
        for (var i = 0; i < 100; i++)
        {
            keys.Add(i * 7919 % 50);
            keys.Begin().Add("a text").AddNull().AddDescending(i);
        }

        keys.Finish();
        list.SortDistinct();
        Assert.True(list.Count == 150 && list.HasNull(0) != list.HasNull(149) && list[0].SequenceCompareTo(list[149]) < 0);
    }

    private static IndexKeyList Fill(Adding add)
    {
        var list = new IndexKeyList(MaxKeyLength);
        var keys = new IndexKeys(list);
        add(ref keys);
        keys.Finish();
        return list;
    }

    /// <summary>Returns whether the failure of a function is that of a key that is too long.</summary>
    private static bool Fails<T>(Adding add)
        where T : Exception
    {
        using var list = new IndexKeyList(MaxKeyLength);
        var keys = new IndexKeys(list);
        try
        {
            add(ref keys);
        }
        catch (T)
        {
            return keys.IsKeyTooLong;
        }

        throw new InvalidOperationException($"no {typeof(T).Name} was thrown");
    }

    private static List<string> Texts(IndexKeyList list)
    {
        var texts = new List<string>();
        for (var i = 0; i < list.Count; i++)
            texts.Add(Convert.ToHexString(list[i]));
        return texts;
    }
}
