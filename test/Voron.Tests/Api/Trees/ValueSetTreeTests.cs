using System.Text;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>The calls of trees of value sets, one by one, and their refusals.</summary>
public sealed class ValueSetTreeTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public ValueSetTreeTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(30)]
    [InlineData(3_000)]
    public void Values_are_found_by_key_and_in_order(int count)
    {
        Fill("t", "k", count);
        Fill("t", "other", 3);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenValueSetTree("t");
        (tree.Name, tree.Count, tree.ValueCount, tree.CountOf("k"u8), tree.CountOf("none"u8)).Should().Be(("t", 2, count + 3, count, 0));
        tree.MaxValueLength.Should().Be(952);
        (tree.GetStatistics().NestedPages > 1).Should().Be(count > 100);
        tree.Contains("k"u8, Value(0)).Should().BeTrue();
        tree.Contains("k"u8, Value(count - 1)).Should().BeTrue();
        tree.Contains("k"u8, Value(count)).Should().BeFalse();
        tree.Contains("none"u8, Value(0)).Should().BeFalse();
        tree.Contains("k"u8, default).Should().BeFalse();
        tree.Contains("k"u8, new byte[5_000]).Should().BeFalse();

        using var values = tree.OpenValues("k"u8);
        (values.Count, values.IsOnValue).Should().Be((count, false));
        All(values, forward: true).Should().Equal(Enumerable.Range(0, count).Select(Text));
        All(values, forward: false).Should().Equal(Enumerable.Range(0, count).Reverse().Select(Text));
        values.Seek(Value(count / 2)).Should().BeTrue();
        Read(values).Should().Be(Text(count / 2));
        values.Seek("v"u8).Should().BeTrue();
        Read(values).Should().Be(Text(0));
        values.Seek("w"u8).Should().BeFalse();
        values.MovePrevious().Should().BeTrue();
        Read(values).Should().Be(Text(count - 1));
        values.SeekForPrevious("w"u8).Should().BeTrue();
        Read(values).Should().Be(Text(count - 1));
        values.SeekForPrevious("a"u8).Should().BeFalse();
        values.MovePrevious().Should().BeFalse();
        values.MoveNext().Should().BeTrue();
        Read(values).Should().Be(Text(0));
        values.SeekExact(Value(count)).Should().BeFalse();
        values.SeekExact(Value(count - 1)).Should().BeTrue();
        values.SeekLast().Should().BeTrue();
        values.MoveNext().Should().BeFalse();

        using var none = tree.OpenValues("none"u8);
        (none.Count, none.MoveNext(), none.SeekLast(), none.Seek("v"u8), none.SeekForPrevious("v"u8)).Should().Be((0, false, false, false, false));
    }

    [Fact]
    public void A_cursor_goes_over_all_pairs_in_both_directions()
    {
        var expected = new List<string>();
        foreach (var (key, count) in new[] { ("a", 1), ("b", 500), ("c", 20), ("d", 700), ("e", 1) })
        {
            Fill("t", key, count);
            expected.AddRange(Enumerable.Range(0, count).Select(i => $"{key}:{Text(i)}"));
        }

        using var reading = _environment.BeginRead();
        using var cursor = reading.OpenValueSetTree("t").OpenCursor();
        Pairs(cursor, forward: true).Should().Equal(expected);
        expected.Reverse();
        Pairs(cursor, forward: false).Should().Equal(expected);

        Check(cursor.Seek("b"u8), "b", 0);
        cursor.CountOfKey.Should().Be(500);
        Check(cursor.MoveToNextKey(), "c", 0);
        Check(cursor.MoveToPreviousKey(), "b", 499);
        Check(cursor.MoveToPreviousKey(), "a", 0);
        cursor.MoveToPreviousKey().Should().BeFalse();
        Check(cursor.Seek("b"u8, Value(77)), "b", 77);
        Check(cursor.SeekExact("d"u8, Value(78)), "d", 78);
        cursor.SeekExact("d"u8, "v"u8).Should().BeFalse();
        Check(true, "d", 0);
        Check(cursor.Seek("b"u8, "w"u8), "c", 0);
        Check(cursor.SeekForPrevious("c"u8, "a"u8), "b", 499);
        Check(cursor.SeekForPrevious("c"u8, Value(4)), "c", 4);
        Check(cursor.SeekForPrevious("bb"u8), "b", 499);
        Check(cursor.SeekForPrevious("d"u8), "d", 699);
        cursor.SeekForPrevious("A"u8).Should().BeFalse();
        cursor.Seek("f"u8).Should().BeFalse();
        Check(cursor.MovePrevious(), "e", 0);
        cursor.Seek("e"u8, "w"u8).Should().BeFalse();
        cursor.MoveToNextKey().Should().BeFalse();

        void Check(bool found, string key, int value)
        {
            found.Should().BeTrue();
            Encoding.UTF8.GetString(cursor.Key).Should().Be(key);
            Encoding.UTF8.GetString(cursor.Value).Should().Be(Text(value));
        }
    }

    [Fact]
    public void Changes_return_whether_they_changed_anything()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateValueSetTree("t");
        tree.Add("k"u8, "a"u8).Should().BeTrue();
        tree.Add("k"u8, "a"u8).Should().BeFalse();
        tree.Remove("k"u8, "b"u8).Should().BeFalse();
        tree.Add("k"u8, "b"u8).Should().BeTrue();
        tree.Add("k"u8, "b"u8).Should().BeFalse();
        tree.Remove("k"u8, "c"u8).Should().BeFalse();
        tree.Remove("k"u8, "a"u8).Should().BeTrue();
        (tree.Count, tree.ValueCount).Should().Be((1, 1));
        tree.Remove("k"u8, "b"u8).Should().BeTrue();
        tree.Remove("k"u8, "b"u8).Should().BeFalse();
        (tree.Count, tree.ValueCount, tree.CountOf("k"u8)).Should().Be((0, 0, 0));
        for (var i = 0; i < 1_000; i++)
            tree.Add("k"u8, Value(i)).Should().BeTrue();
        tree.Add("k"u8, Value(500)).Should().BeFalse();
        tree.Remove("k"u8, Value(1_000)).Should().BeFalse();
        tree.RemoveAll("none"u8).Should().Be(0);
        tree.RemoveAll("k"u8).Should().Be(1_000);
        (tree.Count, tree.ValueCount).Should().Be((0, 0));
        writing.Commit();
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Values_of_all_lengths_stay_in_order()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateValueSetTree("t");
        var longest = new byte[960];
        var model = new SortedSet<string>(StringComparer.Ordinal);
        for (var length = 1; length <= 952; length += 7)
        {
            var value = new string((char)('a' + length % 26), length);
            tree.Add(longest, Encoding.UTF8.GetBytes(value));
            model.Add(value);
        }

        tree.Add(longest, new byte[952].Select(_ => (byte)'~').ToArray());
        model.Add(new string('~', 952));
        using var values = tree.OpenValues(longest);
        All(values, forward: true).Should().Equal(model);
        values.Seek(new byte[2_000].Select(_ => (byte)'~').ToArray()).Should().BeFalse();
        values.SeekForPrevious(new byte[2_000].Select(_ => (byte)'~').ToArray()).Should().BeTrue();
        Read(values).Should().Be(model.Max);
        while (values.SeekFirst())
            tree.Remove(longest, values.Value).Should().BeTrue();
        tree.Count.Should().Be(0);
        writing.Commit();
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_set_comes_back_to_its_leaf_when_it_is_small_again()
    {
        Fill("t", "k", 400);
        _environment.Write(writing =>
        {
            var tree = writing.OpenValueSetTree("t");
            for (var i = 399; i > 0; i--)
                tree.Remove("k"u8, Value(i));
            tree.CountOf("k"u8).Should().Be(1);
            tree.GetStatistics().NestedPages.Should().Be(1, "the number of the next large set stays");
        });
        _environment.Verify().Problems.Should().BeEmpty();
        Fill("t", "k", 400);
        using var reading = _environment.BeginRead();
        reading.OpenValueSetTree("t").ValueCount.Should().Be(400);
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Keys_and_values_that_no_set_can_have_are_refused_by_name_and_size()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateValueSetTree("t");
        Refused(() => tree.Add("k"u8, default), "value", "*1 to 952 bytes*has 0*");
        Refused(() => tree.Add("k"u8, new byte[953]), "value", "*1 to 952 bytes*page size of 4096*has 953*");
        Refused(() => tree.Add(default, [1]), "key", "*has 0*");
        Refused(() => tree.Add(new byte[961], [1]), "key", "*1 to 960 bytes*has 961*");
        Refused(() => tree.Remove("k"u8, new byte[953]), "value", "*has 953*");
        tree.Add(new byte[960], new byte[952]).Should().BeTrue();
        writing.Commit();
    }

    [Fact]
    public void A_tree_of_another_kind_is_refused_by_both_kinds()
    {
        _environment.Write(writing =>
        {
            writing.CreateValueSetTree("sets");
            writing.CreateTree("plain");
            writing.CreateIdTree("ids");
            Refuse(() => writing.OpenTree("sets"), "a tree of value sets*opened as a tree of keys and values");
            Refuse(() => writing.CreateIdTree("sets"), "a tree of value sets*opened as a tree of id sets");
            Refuse(() => writing.CreateValueSetTree("plain"), "a tree of keys and values*opened as a tree of value sets");
            Refuse(() => writing.OpenValueSetTree("ids"), "a tree of id sets*opened as a tree of value sets");
        });
        using var reading = _environment.BeginRead();
        Refuse(() => reading.OpenTree("sets"), "a tree of value sets*opened as a tree of keys and values");
        Refuse(() => reading.OpenValueSetTree("plain"), "a tree of keys and values*opened as a tree of value sets");
        FluentActions.Invoking(() => reading.OpenValueSetTree("none")).Should().Throw<KeyNotFoundException>();
        reading.TryOpenValueSetTree("none", out _).Should().BeFalse();
        reading.GetTreeNames().Should().Equal("ids", "plain", "sets");

        static void Refuse(Action call, string message) => call.Should().Throw<InvalidOperationException>().WithMessage($"*{message}*");
    }

    [Fact]
    public void Ranges_and_all_keys_are_removed_with_their_large_sets()
    {
        foreach (var (key, count) in new[] { ("a", 300), ("b", 2), ("c", 300), ("d", 300), ("e", 1) })
            Fill("t", key, count);
        _environment.Write(writing =>
        {
            var tree = writing.OpenValueSetTree("t");
            tree.DeleteRange(KeyRange.From("b"u8).Intersect(KeyRange.Before("d"u8))).Should().Be(2);
            (tree.Count, tree.ValueCount, tree.CountOf("c"u8)).Should().Be((3, 601, 0));
            tree.DeleteRange(KeyRange.From("x"u8)).Should().Be(0);
        });
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Write(writing => writing.OpenValueSetTree("t").DeleteRange(KeyRange.All).Should().Be(3));
        _environment.Verify().Problems.Should().BeEmpty();
        Fill("t", "again", 300);
        _environment.Write(writing =>
        {
            var tree = writing.OpenValueSetTree("t");
            tree.Clear();
            (tree.Count, tree.ValueCount).Should().Be((0, 0));
        });
        Fill("t", "again", 300);
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_savepoint_takes_back_changes_of_both_trees()
    {
        Fill("t", "k", 300);
        _environment.Write(writing =>
        {
            var tree = writing.OpenValueSetTree("t");
            using var cursor = tree.OpenValues("k"u8);
            cursor.Seek(Value(100)).Should().BeTrue();
            using (var savepoint = writing.CreateSavepoint())
            {
                tree.Add("k"u8, Value(900));
                tree.RemoveAll("k"u8).Should().Be(301);
                tree.Add("new"u8, "v"u8);
                cursor.IsOnValue.Should().BeFalse();
                savepoint.Rollback();
            }

            (tree.Count, tree.ValueCount, tree.CountOf("k"u8)).Should().Be((1, 300, 300));
            cursor.IsOnValue.Should().BeTrue();
            cursor.MoveNext().Should().BeTrue();
            Read(cursor).Should().Be(Text(101));
            using (var savepoint = writing.CreateSavepoint())
            {
                writing.DeleteTree("t");
                writing.CreateValueSetTree("t").Count.Should().Be(0);
                savepoint.Rollback();
            }

            writing.OpenValueSetTree("t").Add("k"u8, Value(300)).Should().BeTrue();
        });
        _environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Trees_are_renamed_deleted_and_dropped_with_their_large_sets()
    {
        Fill("kept", "k", 10);
        var before = _environment.Verify().UsedPages;
        Fill("first", "k", 30_000);
        _environment.Write(writing => writing.RenameTree("first", "second"));
        using (var reading = _environment.BeginRead())
            reading.OpenValueSetTree("second").CountOf("k"u8).Should().Be(30_000);
        _environment.Write(writing => writing.DeleteTree("second"));
        _environment.Verify().UsedPages.Should().Be(before);

        Fill("third", "k", 30_000);
        for (var i = 0; i < 3_000; i++)
            Fill("third", $"key {i}", 2);
        (await _environment.DropTreeAsync("third", Token)).Should().BeTrue();
        var report = _environment.Verify();
        report.Problems.Should().BeEmpty();
        report.UsedPages.Should().Be(before);
        (await _environment.DropTreeAsync("third", Token)).Should().BeFalse();
    }

    [Fact]
    public void Operations_of_a_group_commit_open_and_lose_both_trees()
    {
        Fill("t", "k", 300);
        var outside = default(WriteValueSetTree);
        _environment.Write(writing =>
        {
            outside = writing.OpenValueSetTree("t");
            outside.Add("k"u8, Value(300));
        });
        FluentActions.Invoking(() => outside.Count).Should().Throw<ObjectDisposedException>();
        FluentActions.Invoking(() => _environment.Write(writing =>
        {
            writing.OpenValueSetTree("t").RemoveAll("k"u8);
            throw new InvalidDataException();
        })).Should().Throw<InvalidDataException>();
        using var reading = _environment.BeginRead();
        reading.OpenValueSetTree("t").CountOf("k"u8).Should().Be(301);
        _environment.Verify().Problems.Should().BeEmpty();
    }

    private static void Refused(Action call, string parameter, string message) =>
        call.Should().Throw<ArgumentException>().WithMessage(message).WithParameterName(parameter);

    private static string Text(int value) => $"value {value:D6}";

    private static byte[] Value(int value) => Encoding.UTF8.GetBytes(Text(value));

    private static string Read(ValueCursor cursor) => Encoding.UTF8.GetString(cursor.Value);

    private static List<string> All(ValueCursor cursor, bool forward)
    {
        var all = new List<string>();
        for (var found = forward ? cursor.SeekFirst() : cursor.SeekLast(); found; found = forward ? cursor.MoveNext() : cursor.MovePrevious())
            all.Add(Read(cursor));
        return all;
    }

    private static List<string> Pairs(ValueSetCursor cursor, bool forward)
    {
        var all = new List<string>();
        for (var found = forward ? cursor.SeekFirst() : cursor.SeekLast(); found; found = forward ? cursor.MoveNext() : cursor.MovePrevious())
            all.Add($"{Encoding.UTF8.GetString(cursor.Key)}:{Encoding.UTF8.GetString(cursor.Value)}");
        return all;
    }

    private void Fill(string name, string key, int count) => _environment.Write(writing =>
    {
        var tree = writing.CreateValueSetTree(name);
        for (var i = 0; i < count; i++)
            tree.Add(Encoding.UTF8.GetBytes(key), Value(i * 7919 % count));
    });
}
