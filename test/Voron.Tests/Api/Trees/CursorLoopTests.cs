using System.Buffers.Binary;

namespace Voron.Tests.Api;

/// <summary>
/// The obvious loop over a cursor visits each entry exactly once, forwards and backwards, whatever is deleted and inserted on the way.
/// </summary>
public sealed class CursorLoopTests(ITestOutputHelper output)
{
    private const string TreeName = "t";

    public static TheoryData<bool> Directions => [true, false];

    [Theory]
    [MemberData(nameof(Directions))]
    public void A_loop_that_deletes_everything_visits_everything(bool forwards)
    {
        using var environment = Open(out var model, keys: 3000, seed: 1);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(TreeName);
            using var cursor = tree.OpenCursor();
            var visited = new List<int>();
            for (var found = First(cursor, forwards); found; found = Next(cursor, forwards))
            {
                visited.Add(KeyOf(cursor));
                cursor.Delete().Should().BeTrue();
                cursor.IsOnEntry.Should().BeFalse();
                cursor.Delete().Should().BeFalse("it is gone already");
            }

            visited.Should().Equal(forwards ? model.Keys : model.Keys.Reverse());
            tree.Count.Should().Be(0);
            First(cursor, forwards).Should().BeFalse();
            Next(cursor, forwards).Should().BeFalse();
            writing.Commit();
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [MemberData(nameof(Directions))]
    public void After_a_deletion_both_neighbours_can_be_reached(bool forwards)
    {
        using var environment = Open(out _, keys: 10, seed: 2);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(TreeName);
        using var cursor = tree.OpenCursor();
        foreach (var throughTree in new[] { false, true })
        {
            var key = throughTree ? 12 : 6;
            cursor.SeekExact(Key(key)).Should().BeTrue();
            (throughTree ? tree.Delete(Key(key)) : cursor.Delete()).Should().BeTrue();
            Next(cursor, forwards).Should().BeTrue();
            KeyOf(cursor).Should().Be(forwards ? key + 2 : key - 2);
            Next(cursor, !forwards).Should().BeTrue();
            KeyOf(cursor).Should().Be(forwards ? key - 2 : key + 2, "the deleted one lies between them");
        }

        // The ends.
        cursor.SeekLast().Should().BeTrue();
        cursor.Delete().Should().BeTrue();
        cursor.MoveNext().Should().BeFalse();
        cursor.MovePrevious().Should().BeTrue();
        cursor.SeekFirst().Should().BeTrue();
        cursor.Delete().Should().BeTrue();
        cursor.MovePrevious().Should().BeFalse();
        cursor.MoveNext().Should().BeTrue();
        KeyOf(cursor).Should().Be(2);
    }

    [Theory]
    [MemberData(nameof(Directions))]
    public void An_entry_that_is_put_back_where_the_cursor_stands_is_not_visited_again(bool forwards)
    {
        using var environment = Open(out var model, keys: 400, seed: 3);
        using var writing = environment.BeginWrite();
        var tree = writing.OpenTree(TreeName);
        using var cursor = tree.OpenCursor();
        var visits = 0;
        for (var found = First(cursor, forwards); found; found = Next(cursor, forwards))
        {
            visits++;
            var key = Key(KeyOf(cursor));
            cursor.Delete().Should().BeTrue();
            tree.Put(key, [9]);
            visits.Should().BeLessThanOrEqualTo(model.Count);
        }

        visits.Should().Be(model.Count);
        tree.Count.Should().Be(model.Count);
    }

    // Against a sorted dictionary: entries are deleted at the cursor and elsewhere, singly and in runs that merge and free pages, through the
    // cursor and through the tree; entries are inserted, changed and moved to values of several pages; savepoints are rolled back.
    [Theory]
    [MemberData(nameof(Directions))]
    public void A_loop_with_changes_of_all_kinds_visits_what_the_model_visits(bool forwards)
    {
        var firstSeed = TestSeed.Choose();
        for (var seed = firstSeed; seed < firstSeed + SuiteShare.Rounds(40); seed++)
        {
            output.WriteLine($"seed {seed}");
            var random = new Random(seed);
            using var environment = Open(out var model, keys: random.Next(1, 2500), seed);
            using (var writing = environment.BeginWrite())
            {
                Loop(writing, model, random, forwards, $"seed {seed}");
                writing.Commit();
            }

            using var reading = environment.BeginRead();
            var tree = reading.OpenTree(TreeName);
            tree.Count.Should().Be(model.Count, "seed {0}", seed);
            using var cursor = tree.OpenCursor();
            var keys = new List<int>();
            for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                keys.Add(KeyOf(cursor));
            keys.Should().Equal(model.Keys, "seed {0}", seed);
            environment.Verify().Problems.Should().BeEmpty("seed {0}", seed);
        }
    }

    private static void Loop(WriteTransaction writing, SortedDictionary<int, byte[]> model, Random random, bool forwards, string because)
    {
        var tree = writing.OpenTree(TreeName);
        using var cursor = tree.OpenCursor();
        int? last = null;
        var found = First(cursor, forwards);
        while (true)
        {
            var expected = Neighbour(model, last, forwards);
            found.Should().Be(expected != null, because);
            if (expected is not { } key)
                return;
            KeyOf(cursor).Should().Be(key, because);
            cursor.Value.SequenceEqual(model[key]).Should().BeTrue(because);
            last = key;
            for (var changes = random.Next(4); changes > 0; changes--)
                Change(tree, cursor, model, random, key);
            if (random.Next(50) == 0)
                RollBack(writing, cursor, new(model), random, key);
            cursor.IsOnEntry.Should().Be(model.ContainsKey(key), because);
            found = Next(cursor, forwards);
        }
    }

    private static void Change(WriteTree tree, Cursor cursor, SortedDictionary<int, byte[]> model, Random random, int key)
    {
        switch (random.Next(8))
        {
            case 0 or 1 when cursor.IsOnEntry:
                cursor.Delete().Should().BeTrue();
                model.Remove(key);
                break;
            case 2:
                tree.Delete(Key(key)).Should().Be(model.Remove(key));
                break;
            case 3:
                // A run around the cursor, of up to some pages.
                var first = key - random.Next(200);
                for (var doomed = first; doomed < first + random.Next(400); doomed++)
                    tree.Delete(Key(doomed)).Should().Be(model.Remove(doomed));
                break;
            case 4:
                Put(tree, model, key + random.Next(-3, 4), random);
                break;
            case 5:
                for (var i = random.Next(20); i > 0; i--)
                    Put(tree, model, key + random.Next(-60, 60), random);
                break;
            case 6:
                Put(tree, model, key, random);
                break;
            default:
                var elsewhere = random.Next(10_000);
                tree.Delete(Key(elsewhere)).Should().Be(model.Remove(elsewhere));
                break;
        }
    }

    private static void RollBack(WriteTransaction writing, Cursor cursor, SortedDictionary<int, byte[]> scratch, Random random, int key)
    {
        var savepoint = writing.CreateSavepoint();
        for (var i = 0; i < 5; i++)
            Change(writing.OpenTree(TreeName), cursor, scratch, random, key);
        savepoint.Rollback();
        savepoint.Release();
    }

    private static void Put(WriteTree tree, SortedDictionary<int, byte[]> model, int key, Random random)
    {
        if (key < 0)
            return;
        var value = new byte[random.Next(12) == 0 ? random.Next(9000) : random.Next(300)];
        random.NextBytes(value);
        tree.Put(Key(key), value);
        model[key] = value;
    }

    private static int? Neighbour(SortedDictionary<int, byte[]> model, int? last, bool forwards)
    {
        var keys = model.Keys.Where(key => last == null || (forwards ? key > last : key < last));
        return (forwards ? keys.Take(1) : keys.TakeLast(1)).Select(key => (int?)key).FirstOrDefault();
    }

    private static StorageEnvironment Open(out SortedDictionary<int, byte[]> model, int keys, int seed)
    {
        var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        model = [];
        var random = new Random(seed);
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree(TreeName);
        for (var i = 0; i < keys; i++)
            Put(tree, model, 2 * i, random);
        writing.Commit();
        return environment;
    }

    private static byte[] Key(int key)
    {
        var bytes = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(bytes, key + (1L << 40));
        return bytes;
    }

    private static int KeyOf(Cursor cursor) => (int)(BinaryPrimitives.ReadInt64BigEndian(cursor.Key) - (1L << 40));

    private static bool First(Cursor cursor, bool forwards) => forwards ? cursor.SeekFirst() : cursor.SeekLast();

    private static bool Next(Cursor cursor, bool forwards) => forwards ? cursor.MoveNext() : cursor.MovePrevious();
}
