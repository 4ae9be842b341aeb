using System.Text;
using Voron.Format;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Trees;

namespace Voron.Tests.Api;

/// <summary>Records and companions that no engine has written: each call throws a <see cref="CorruptionException"/> or nothing, and Verify names them.</summary>
[Quick]
public sealed class ForgedValueSetTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());

    public ForgedValueSetTests() => _environment.Write(writing =>
    {
        var tree = writing.CreateValueSetTree("t");
        tree.Add("one"u8, "value"u8);
        for (var i = 0; i < 20; i++)
            tree.Add("few"u8, Value(i));
        for (var i = 0; i < 200; i++)
            tree.Add("large"u8, Value(i));
    });

    public void Dispose() => _environment.Dispose();

    [Theory]
    [InlineData("one")]
    [InlineData("few")]
    [InlineData("large")]
    public void No_byte_of_a_record_makes_a_call_fail_in_another_way(string key)
    {
        var random = new Random(TestSeed.Choose());
        byte[] record;
        using (var reading = _environment.BeginRead())
            record = new Tree(reading.OpenValueSetTree("t").Opened, reading.OpenValueSetTree("t").Opened.Generation).Get(Bytes(key))!;
        for (var i = 0; i < 600; i++)
        {
            var forged = record.ToArray();
            for (var changes = random.Next(1, 4); changes > 0; changes--)
                forged[random.Next(random.Next(2) == 0 ? Math.Min(forged.Length, 32) : forged.Length)] = (byte)random.Next(256);
            if (random.Next(4) == 0)
                forged = forged[..random.Next(forged.Length)];
            else if (random.Next(4) == 0)
                forged = [.. forged, .. new byte[random.Next(3_000)]];
            UseAll(Bytes(key), forged, random);
        }
    }

    [Fact]
    public void Verify_names_a_wrong_count_and_wrong_bytes_of_a_large_set()
    {
        var large = new LargeSetReference { Form = ValueSetForm.Large, Number = 1, Count = 201, Bytes = 200 * 9 };
        Forge(raw => raw.Put("large"u8, Record(large)));
        Problems().Should().Contain(problem => problem.Contains("key 'large' claims 201 values of 1800 bytes in large set 1, which has 200 of 1800"))
            .And.Contain(problem => problem.Contains("claims 221 values, but the walk counted 222"));
    }

    [Fact]
    public void Verify_names_a_large_set_without_a_key()
    {
        Forge(raw => raw.Delete("large"u8));
        Problems().Should().Contain(problem => problem.Contains("large set 1 has 200 values, but no key leads to it"));
    }

    [Fact]
    public void Verify_names_two_keys_of_one_large_set()
    {
        Forge(raw => raw.Put("twin"u8, raw.Get("large"u8)));
        Problems().Should().Contain(problem => problem.Contains("key 'twin' claims 200 values"));
    }

    [Fact]
    public void Verify_names_values_that_are_out_of_order()
    {
        Forge(raw =>
        {
            var few = raw.Get("few"u8)!;
            (few[8], few[10]) = (few[10], few[8]);
            (few[9], few[11]) = (few[11], few[9]);
            raw.Put("few"u8, few);
        });
        Problems().Should().Contain(problem => problem.Contains("key 'few' has value 1 of 20, which is not above the one before it"));
    }

    [Fact]
    public void Verify_names_entries_of_the_companion_that_are_no_values()
    {
        Change((writing, id) =>
        {
            var large = writing.FindSystemTree(Companion(id))!.Value;
            large.Put("x"u8, default);
            large.Put([0, 0, 0, 0, 0, 0, 0, 1, 1], "bytes"u8);
            large.Delete(ValueSetLayout.NextNumberKey);
        });
        Problems().Should().Contain(problem => problem.Contains("entry that is no value of a set: 'x'"))
            .And.Contain(problem => problem.Contains("next large set is 1, but there is a large set"));
        using var writing = _environment.BeginWrite();
        var tree = writing.OpenValueSetTree("t");
        var grow = () =>
        {
            for (var i = 0; i < 200; i++)
                tree.Add("new"u8, Value(i));
        };
        grow.Should().Throw<CorruptionException>().WithMessage("*number of the next large set*");
    }

    [Fact]
    public void A_companion_that_is_missing_or_has_no_tree_is_damage()
    {
        Change((writing, id) => writing.DeleteSystemTree(Companion(id)));
        Problems().Should().Contain(problem => problem.Contains("the catalog does not have its tree of the large sets"));
        using (var reading = _environment.BeginRead())
        {
            var tree = reading.OpenValueSetTree("t");
            tree.Contains("few"u8, Value(0)).Should().BeTrue();
            FluentActions.Invoking(() => tree.Contains("large"u8, Value(0))).Should().Throw<CorruptionException>().WithMessage("*lacks the tree for the large sets*");
        }

        _environment.Write(writing =>
        {
            writing.DeleteTree("t");
            writing.CreateSystemTree(Companion(77));
        });
        Problems().Should().ContainSingle().Which.Should().Contain("there is no tree of value sets with id 77");
    }

    private static byte[] Value(int value) => Encoding.UTF8.GetBytes($"value {value:D3}");

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static byte[] Companion(uint id) => SystemTree.LargeSetsName(id, new byte[SystemTree.LargeSetsNameBytes]).ToArray();

    private static byte[] Record(LargeSetReference large) =>
        System.Runtime.InteropServices.MemoryMarshal.AsBytes(new ReadOnlySpan<LargeSetReference>(in large)).ToArray();

    private IReadOnlyList<string> Problems() => _environment.Verify().Problems;

    private void Forge(Action<WriteTree> change) => Change((writing, _) => change(new WriteTree(writing.OpenValueSetTree("t").AsReadOnly().Opened)));

    private void Change(Action<WriteTransaction, uint> change) =>
        _environment.Write(writing => change(writing, writing.OpenValueSetTree("t").AsReadOnly().Opened.StateAsIs.TreeId));

    // Nothing of it is committed.
    private void UseAll(byte[] key, byte[] forged, Random random)
    {
        Action<WriteValueSetTree>[] calls =
        [
            tree => tree.CountOf(key),
            tree => tree.Contains(key, Value(random.Next(250))),
            tree => tree.Add(key, Value(random.Next(250))),
            tree => tree.Add(key, new byte[random.Next(1, 900)]),
            tree => tree.Remove(key, Value(random.Next(250))),
            tree => Enumerable.Range(0, 200).ToList().ForEach(i => tree.Remove(key, Value(i))),
            tree => Enumerable.Range(0, 200).ToList().ForEach(i => tree.Add(key, Value(i))),
            tree => tree.RemoveAll(key),
            tree => tree.DeleteRange(KeyRange.All),
            Walk,
        ];
        foreach (var call in calls)
        {
            using var writing = _environment.BeginWrite();
            new WriteTree(writing.OpenValueSetTree("t").AsReadOnly().Opened).Put(key, forged);
            try
            {
                call(writing.OpenValueSetTree("t"));
            }
            catch (CorruptionException)
            {
                // As it should be.
            }
        }

        void Walk(WriteValueSetTree tree)
        {
            using var cursor = tree.OpenCursor();
            var steps = 0;
            while (cursor.MoveNext())
                (++steps).Should().BeLessThan(3_000);
            cursor.Seek(key, Value(random.Next(250)));
            while (cursor.MovePrevious())
                (++steps).Should().BeLessThan(6_000);
        }
    }
}
