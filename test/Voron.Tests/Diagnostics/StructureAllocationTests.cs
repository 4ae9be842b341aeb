using Voron.Simulation.Memory;
using Voron.Tables;
using Voron.Tests.Dictionaries;
using Voron.Tests.Faults;
using Voron.Tests.Tables;

namespace Voron.Tests.Diagnostics;

/// <summary>
/// In the steady state, an operation of a structure allocates at most half a byte of managed memory; what codecs allocate is not the engine's.
/// Alone, because collections that other tests cause empty pools, which are then filled again.
/// </summary>
[Collection(nameof(Alone))]
[Quick]
public sealed class StructureAllocationTests : IDisposable
{
    private const int Operations = 2_000;
    private const int Rounds = 6;

    private static readonly SharedIndex Groups = new("groups", 1);
    private static readonly TableDefinition<long, Row> Expiring = Define("expiring").Expire(static row => ExpiryKit.Start.AddMinutes(1 + row.Group));
    private static readonly TableDefinition<long, Row> First = Define("first").Index(Groups, AddGroup);
    private static readonly TableDefinition<long, Row> Second = Define("second").Index(Groups, AddGroup);

    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(ExpiryKit.Options(new SetClock()));

    // Without what the tests' own hooks in the engine's memory allocate.
    private static long Allocated => GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void Values_of_sets_are_changed_and_read_without_garbage()
    {
        var values = Bytes(static i => FaultTestKit.Key(i * 7919 % 1_000_000));
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateValueSetTree("t");
        Measure(5 * Operations, () =>
        {
            for (var i = 0; i < Operations; i++)
            {
                // Small sets, of up to ten values, and a large one.
                var key = values[i / 10];
                tree.Add(key, values[i]);
                tree.Add("large"u8, values[i]);
                tree.Contains(key, values[i]);
                if (i % 2 == 0)
                    tree.Remove(key, values[i]);
            }

            using var pairs = tree.OpenCursor();
            while (pairs.MoveNext())
                _ = pairs.Value;
            using var large = tree.OpenValues("large"u8);
            while (large.MoveNext())
                _ = large.Value;
        });
        tree.CountOf("large"u8).Should().Be(Operations);
    }

    [Fact]
    public void Compressed_values_are_written_and_read_without_garbage()
    {
        _environment.Compress(tree: "t");
        var keys = Bytes(CompressionKit.Key);
        var records = Bytes(static i => CompressionKit.Record(i % 200, 300));
        _environment.Write(writing =>
        {
            var tree = writing.OpenTree("t");
            for (var i = 0; i < Operations; i++)
                tree.Put(keys[i], records[i]);
        });
        _environment.Train("t").Should().BeTrue();
        var buffer = new byte[1_000];
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.OpenTree("t");
            var round = 0;
            Measure(Operations, () =>
            {
                round++;
                for (var i = 0; i < Operations; i++)
                    tree.Put(keys[i], records[(i + round) % Operations]);
                _ = tree.Contains(keys[0]);
            });
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        var read = reading.OpenTree("t");
        var bytes = 0L;
        Measure(2 * Operations, () =>
        {
            for (var i = 0; i < Operations; i++)
                bytes += read.TryCopyTo(keys[i], buffer, out var written) ? written : 0;
            using var cursor = read.OpenCursor();
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                bytes += cursor.Value.Length;
        });
        bytes.Should().BeGreaterThan(2L * Rounds * Operations * 300);
    }

    [Fact]
    public void Rows_that_expire_are_changed_and_read_without_garbage()
    {
        var rows = Rows();
        using var writing = _environment.BeginWrite();
        writing.CreateTable(Expiring).InsertMany(rows);
        var table = writing.OpenTable(Expiring);
        var found = 0L;
        Measure(3 * Operations, () =>
        {
            foreach (var row in rows)
            {
                row.Group = (row.Group + 1) % 50;
                table.Upsert(row);
                if (table.TryGetReader(row.Id, out var reader))
                    found += reader.ReadInt32();
                found += table.Contains(row.Id) ? 1 : 0;
            }
        });
        found.Should().BeGreaterThan(Rounds * Operations);
        table.Count.Should().Be(Operations);
    }

    [Fact]
    public void Rows_of_a_shared_index_are_found_without_garbage()
    {
        foreach (var definition in new[] { First, Second })
            _environment.Write(writing => writing.CreateTable(definition).InsertMany(Rows()));
        using var reading = _environment.BeginRead();
        var (first, second) = (reading.OpenTable(First), reading.OpenTable(Second));
        var found = 0L;
        Measure(2 * Operations, () =>
        {
            using var query = reading.QuerySharedIndex(Groups);
            while (query.MoveNext())
                found += query.TryGetRow(first, out var row) || query.TryGetRow(second, out row) ? 1 + row.Id : 0;
        });
        found.Should().Be(Rounds * Operations * (Operations + 1L));
    }

    // Lists grow at first, and methods are compiled: the least of some rounds counts.
    private static void Measure(int operations, Action round)
    {
        var least = long.MaxValue;
        for (var i = 0; i < Rounds; i++)
        {
            var before = Allocated;
            round();
            least = Math.Min(least, Allocated - before);
        }

        TestContext.Current.TestOutputHelper?.WriteLine($"{least} bytes for {operations} operations");
        least.Should().BeLessThanOrEqualTo(operations / 2, "at most half a byte an operation");
    }

    private static byte[][] Bytes(Func<int, byte[]> make) => [.. Enumerable.Range(0, Operations).Select(make)];

    private static Row[] Rows() => [.. Enumerable.Range(0, Operations).Select(static i => new Row { Id = i, Group = i % 50 })];

    private static TableDefinition<long, Row> Define(string name) =>
        TableDefinition.Create(name, 1, new RowCodec(), KeyCodec.Int64, static (Row row) => row.Id);

    private static void AddGroup(in Row row, ref IndexKeys keys) => keys.Add(row.Group);

    private sealed class Row
    {
        public long Id { get; set; }

        public int Group { get; set; }
    }

    /// <summary>Reads into one object again and again, so that only the engine's allocations count.</summary>
    private sealed class RowCodec : IRowCodec<Row>
    {
        private readonly Row _read = new();

        public void Write(in Row row, ref RowWriter writer)
        {
            writer.WriteInt32(row.Group);
            writer.WriteInt64(row.Id);
        }

        public Row Read(ref RowReader reader)
        {
            _read.Group = reader.ReadInt32();
            _read.Id = reader.ReadInt64();
            return _read;
        }
    }
}
