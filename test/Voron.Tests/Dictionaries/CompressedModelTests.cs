using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Dictionaries;

/// <summary>Random changes of a tree whose compression changes on the way, compared with a sorted dictionary.</summary>
[Quick]
public sealed class CompressedModelTests
{
    private const int Keys = 300;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_tree_agrees_with_a_dictionary_through_all_changes(int seed)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk();
        var model = new SortedDictionary<int, byte[]>();
        var environment = StorageEnvironment.Open(disk, CompressionKit.Options());
        environment.Compress(ValueCompression.Fast);
        for (var round = 0; round < SuiteShare.Rounds(60); round++)
        {
            switch (random.Next(8))
            {
                case 0:
                    environment.Write(writing => writing.CompressValues(CompressionKit.TreeName, (ValueCompression)random.Next(3)));
                    break;
                case 1:
                    environment.Train();
                    break;
                case 2:
                    environment.Recompress();
                    break;
                case 3:
                    environment.Flush();
                    break;
                case 4:
                    environment.Dispose();
                    environment = StorageEnvironment.Open(disk, CompressionKit.Options());
                    break;
                case 5:
                    // As a killed process leaves the files.
                    var files = FaultTestKit.Bytes(disk);
                    environment.Dispose();
                    disk = FaultTestKit.DiskOf(files);
                    environment = StorageEnvironment.Open(disk, CompressionKit.Options());
                    break;
                default:
                    model = Change(environment, random, model);
                    break;
            }

            Check(environment, model);
        }

        environment.AssertSound();
        environment.Dispose();
    }

    private static SortedDictionary<int, byte[]> Change(StorageEnvironment environment, Random random, SortedDictionary<int, byte[]> before)
    {
        var model = new SortedDictionary<int, byte[]>(before);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(CompressionKit.TreeName);
        ChangeSome(tree, random, model);
        var savepoint = writing.CreateSavepoint();
        var kept = new SortedDictionary<int, byte[]>(model);
        ChangeSome(tree, random, model);
        if (random.Next(2) == 0)
        {
            savepoint.Rollback();
            model = kept;
        }

        savepoint.Dispose();
        ChangeSome(tree, random, model);
        if (random.Next(5) == 0)
            return before;
        writing.Commit();
        return model;
    }

    private static void ChangeSome(WriteTree tree, Random random, SortedDictionary<int, byte[]> model)
    {
        for (var i = random.Next(60); i > 0; i--)
        {
            var key = random.Next(Keys);
            var value = ValueOf(random);
            var isThere = model.TryGetValue(key, out var old);
            switch (random.Next(6))
            {
                case 0:
                    tree.Delete(CompressionKit.Key(key)).Should().Be(isThere);
                    model.Remove(key);
                    break;
                case 1:
                    tree.Insert(CompressionKit.Key(key), value).Should().Be(!isThere);
                    model.TryAdd(key, value);
                    break;
                case 2 when isThere:
                    tree.CompareExchange(CompressionKit.Key(key), value, old!).Should().BeTrue();
                    model[key] = value;
                    break;
                default:
                    tree.Put(CompressionKit.Key(key), value);
                    model[key] = value;
                    break;
            }
        }
    }

    private static byte[] ValueOf(Random random) => random.Next(10) switch
    {
        0 => CompressionKit.Noise(random.Next(), random.Next(3000)),
        1 => new byte[random.Next(20_000)],
        2 => CompressionKit.Record(random.Next(1000), random.Next(20_000)),
        3 => [],
        _ => CompressionKit.Record(random.Next(1000), random.Next(1500)),
    };

    private static void Check(StorageEnvironment environment, SortedDictionary<int, byte[]> model)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        tree.Count.Should().Be(model.Count);
        using var expected = model.GetEnumerator();
        foreach (var entry in tree.GetEntries())
        {
            expected.MoveNext().Should().BeTrue();
            entry.Key.SequenceEqual(CompressionKit.Key(expected.Current.Key)).Should().BeTrue();
            entry.Value.SequenceEqual(expected.Current.Value).Should().BeTrue();
        }
    }
}
