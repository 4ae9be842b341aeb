using System.Buffers.Binary;
using Voron.Trees;

namespace Voron.Tests.Trees;

[Quick]
public sealed class TreeCursorTests
{
    [Fact]
    public void An_empty_tree_gives_no_entry_in_any_way()
    {
        using var tree = new TestTree();
        var cursor = tree.OpenCursor();
        cursor.MoveNext().Should().BeFalse();
        cursor.MovePrevious().Should().BeFalse();
        cursor.SeekFirst().Should().BeFalse();
        cursor.SeekLast().Should().BeFalse();
        cursor.Seek([1]).Should().BeFalse();
        cursor.SeekForPrevious([1]).Should().BeFalse();
        cursor.IsOnEntry.Should().BeFalse();
        var key = () => cursor.Key.Length;
        key.Should().Throw<InvalidOperationException>();
    }

    [Fact]
    public void Seeking_finds_the_neighbours_of_every_key()
    {
        using var tree = Filled(3_000);
        var cursor = tree.OpenCursor();
        for (var i = -1; i <= 6_000; i++)
        {
            var exact = i % 2 == 0 && i is >= 0 and < 6_000;
            cursor.SeekExact(Number(i)).Should().Be(exact);
            var above = Math.Max(0, (i + 1) / 2 * 2);
            cursor.Seek(Number(i)).Should().Be(above < 6_000);
            if (above < 6_000)
                NumberOf(cursor).Should().Be(above);

            cursor.SeekForPrevious(Number(i)).Should().Be(i >= 0);
            if (i >= 0)
                NumberOf(cursor).Should().Be(Math.Min(i / 2 * 2, 5_998));
        }
    }

    [Fact]
    public void Past_an_end_the_other_direction_leads_back()
    {
        using var tree = Filled(500);
        var cursor = tree.OpenCursor();
        cursor.SeekLast().Should().BeTrue();
        cursor.MoveNext().Should().BeFalse();
        cursor.MoveNext().Should().BeFalse();
        cursor.MovePrevious().Should().BeTrue();
        NumberOf(cursor).Should().Be(998);
        cursor.SeekFirst().Should().BeTrue();
        cursor.MovePrevious().Should().BeFalse();
        cursor.MovePrevious().Should().BeFalse();
        cursor.MoveNext().Should().BeTrue();
        NumberOf(cursor).Should().Be(0);
    }

    [Fact]
    public void After_its_entry_is_deleted_a_cursor_goes_to_the_neighbours()
    {
        using var tree = Filled(100);
        var forward = tree.OpenCursor();
        var backward = tree.OpenCursor();
        forward.Seek(Number(50));
        backward.Seek(Number(50));
        tree.Delete(Number(50));

        forward.IsOnEntry.Should().BeFalse();
        var key = () => forward.Key.Length;
        key.Should().Throw<InvalidOperationException>();
        var value = () => forward.Value.Length;
        value.Should().Throw<InvalidOperationException>();
        forward.MoveNext().Should().BeTrue();
        NumberOf(forward).Should().Be(52);
        backward.MovePrevious().Should().BeTrue();
        NumberOf(backward).Should().Be(48);
    }

    [Fact]
    public void A_cursor_sees_the_changes_of_its_entry_and_of_what_is_ahead()
    {
        using var tree = Filled(100);
        var cursor = tree.OpenCursor();
        cursor.Seek(Number(50));
        tree.Put(Number(50), new byte[20_000]);
        cursor.Value.Length.Should().Be(20_000);
        cursor.ValueLength.Should().Be(20_000);
        tree.Put(Number(51), [1]);
        cursor.MoveNext().Should().BeTrue();
        NumberOf(cursor).Should().Be(51);
        tree.Delete(Number(51));
        tree.Put(Number(51), [2]);
        cursor.Value.ToArray().Should().Equal(2);
    }

    [Fact]
    public void Everything_can_be_deleted_while_going_forward_or_backward()
    {
        foreach (var forward in new[] { true, false })
        {
            using var tree = Filled(2_000);
            var cursor = tree.OpenCursor();
            var expected = forward ? 0 : 3_998;
            while (forward ? cursor.MoveNext() : cursor.MovePrevious())
            {
                NumberOf(cursor).Should().Be(expected);
                TreeWriter.DeleteCurrent(tree.Pages, cursor).Should().BeTrue();
                TreeWriter.DeleteCurrent(tree.Pages, cursor).Should().BeFalse();
                expected += forward ? 2 : -2;
            }

            tree.State.EntryCount.Should().Be(0);
            tree.Pages.PagesInUse.Should().Be(0);
        }
    }

    [Fact]
    public void A_closed_cursor_receives_no_changes_and_can_be_opened_again()
    {
        using var tree = Filled(10);
        var first = tree.OpenCursor();
        var second = tree.OpenCursor();
        var third = tree.OpenCursor();
        second.MoveNext();
        second.Close();
        second.Close();
        first.MoveNext();
        third.MoveNext();
        tree.Delete(Number(0));
        first.MoveNext().Should().BeTrue();
        third.MoveNext().Should().BeTrue();
        second.Open(tree.State, tree.Pages);
        second.MoveNext().Should().BeTrue();
        foreach (var cursor in new[] { first, second, third })
        {
            NumberOf(cursor).Should().Be(2);
            cursor.Close();
        }
    }

    [Fact]
    public void A_move_that_fails_leaves_the_cursor_where_it_was_and_can_be_tried_again()
    {
        const int entries = 12_000;
        using var tree = Filled(entries);
        tree.State.Depth.Should().Be(3, "then there are pages between a leaf and the next one that a move has to read");
        var cursor = tree.OpenCursor();
        var random = new Random(20261122);
        foreach (var forward in new[] { true, false })
        {
            var found = new List<int>();
            var failures = 0;
            for (var isDone = false; !isDone;)
            {
                // The next needed page cannot be read, or the one after it.
                tree.Pages.FailReadAfter = random.Next(-1, 3);
                try
                {
                    isDone = !(forward ? cursor.MoveNext() : cursor.MovePrevious());
                    if (!isDone)
                        found.Add(NumberOf(cursor));
                }
                catch (CorruptionException)
                {
                    tree.Pages.FailReadAfter = -1;
                    failures++;
                    if (found.Count > 0)
                        NumberOf(cursor).Should().Be(found[^1], "the cursor is where it was");
                    else if (forward)
                        cursor.SeekForPrevious(Number(-1)).Should().BeFalse("it has to seek again");
                }

                tree.Pages.FailReadAfter = -1;
            }

            var expected = Enumerable.Range(0, entries).Select(i => i * 2);
            found.Should().Equal(forward ? expected : expected.Reverse(), "seed 20261122");
            failures.Should().BeGreaterThan(40);
        }
    }

    [Fact]
    public void A_seek_that_fails_leaves_no_place_behind()
    {
        using var tree = Filled(3_000);
        var cursor = tree.OpenCursor();
        cursor.Seek(Number(1_000)).Should().BeTrue();
        for (var pages = 0; pages < 2; pages++)
        {
            Action[] seeks =
            [
                () => cursor.Seek(Number(4_000)),
                () => cursor.SeekExact(Number(4_001)),
                () => cursor.SeekForPrevious(Number(4_000)),
                () => cursor.SeekFirst(),
                () => cursor.SeekLast(),
            ];
            foreach (var seek in seeks)
            {
                tree.Pages.FailReadAfter = pages;
                seek.Should().Throw<CorruptionException>();
                tree.Pages.FailReadAfter = -1;
                Lost(cursor);
                cursor.Seek(Number(1_000)).Should().BeTrue();
                NumberOf(cursor).Should().Be(1_000);
            }
        }

        // Behind the last entry of a leaf, the search continues in the next leaf, which cannot be read.
        var behind = Enumerable.Range(0, 3_000).First(i =>
        {
            tree.Pages.FailReadAfter = tree.State.Depth;
            try
            {
                return !cursor.Seek(Number((2 * i) + 1));
            }
            catch (CorruptionException)
            {
                return true;
            }
            finally
            {
                tree.Pages.FailReadAfter = -1;
            }
        });
        behind.Should().BeLessThan(2_999);
        Lost(cursor);
        tree.Put(Number(behind), [1]);
        Lost(cursor);
    }

    [Fact]
    public void An_entry_that_cannot_be_found_again_can_be_when_its_page_can_be_read()
    {
        using var tree = Filled(3_000);
        var cursor = tree.OpenCursor();
        cursor.Seek(Number(1_000)).Should().BeTrue();
        tree.Put(Number(1_001), [1]);
        for (var pages = 0; pages < tree.State.Depth; pages++)
        {
            tree.Pages.FailReadAfter = pages;
            FluentActions.Invoking(() => cursor.IsOnEntry).Should().Throw<CorruptionException>();
            tree.Pages.FailReadAfter = -1;
        }

        NumberOf(cursor).Should().Be(1_000);
        cursor.MoveNext().Should().BeTrue();
        NumberOf(cursor).Should().Be(1_001);
    }

    [Fact]
    public void Loading_a_header_again_after_a_rollback_keeps_the_cursors_place()
    {
        using var tree = Filled(10);
        var header = tree.State.ToHeader();
        var cursor = tree.OpenCursor();
        cursor.Seek(Number(8));
        tree.State.Load(header);
        cursor.MoveNext().Should().BeTrue();
        NumberOf(cursor).Should().Be(10);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Wandering_cursors_agree_with_a_model_while_the_tree_changes(int seed)
    {
        var random = new Random(seed);
        using var tree = Filled(400);
        var model = new SortedSet<int>(Enumerable.Range(0, 400).Select(i => i * 2));
        var cursors = Enumerable.Range(0, 4).Select(_ => tree.OpenCursor()).ToArray();
        var places = new int?[4];
        for (var step = 0; step < SuiteShare.Rounds(20_000); step++)
        {
            var number = random.Next(800);
            var which = random.Next(4);
            var cursor = cursors[which];
            switch (random.Next(6))
            {
                case 0:
                    tree.Put(Number(number), new byte[random.Next(300)]);
                    model.Add(number);
                    break;
                case 1:
                    tree.Delete(Number(number)).Should().Be(model.Remove(number));
                    break;
                case 2:
                    places[which] = Above(model, number - 1);
                    cursor.Seek(Number(number)).Should().Be(places[which] != null);
                    break;
                case 3 when places[which] is { } place:
                    places[which] = Above(model, place);
                    cursor.MoveNext().Should().Be(places[which] != null, $"seed {seed}, step {step}");
                    break;
                case 4 when places[which] is { } place:
                    places[which] = Below(model, place);
                    cursor.MovePrevious().Should().Be(places[which] != null, $"seed {seed}, step {step}");
                    break;
                case 5 when places[which] is { } place:
                    cursor.IsOnEntry.Should().Be(model.Contains(place));
                    if (random.Next(4) == 0)
                        TreeWriter.DeleteCurrent(tree.Pages, cursor).Should().Be(model.Remove(place));
                    tree.Model.Remove(Number(place));
                    if (model.Contains(place))
                        tree.Model[Number(place)] = cursor.Value.ToArray();
                    break;
                default:
                    break;
            }

            if (places[which] is { } now)
            {
                cursor.IsOnEntry.Should().Be(model.Contains(now), $"seed {seed}, step {step}");
                if (model.Contains(now))
                    NumberOf(cursor).Should().Be(now, $"seed {seed}, step {step}");
            }

            if (step % 50 == 0)
                tree.Pages.EndTransaction();
        }

        tree.Check();
    }

    private static void Lost(TreeCursor cursor)
    {
        cursor.IsOnEntry.Should().BeFalse();
        FluentActions.Invoking(() => cursor.Key.Length).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => cursor.Value.Length).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => cursor.MoveNext()).Should().Throw<InvalidOperationException>().WithMessage("*lost its place*");
        FluentActions.Invoking(() => cursor.MovePrevious()).Should().Throw<InvalidOperationException>().WithMessage("*lost its place*");
    }

    private static int? Above(SortedSet<int> model, int number)
    {
        var view = model.GetViewBetween(number + 1, int.MaxValue);
        return view.Count == 0 ? null : view.Min;
    }

    private static int? Below(SortedSet<int> model, int number)
    {
        var view = model.GetViewBetween(int.MinValue, number - 1);
        return view.Count == 0 ? null : view.Max;
    }

    private static TestTree Filled(int entries)
    {
        var tree = new TestTree();
        for (var i = 0; i < entries; i++)
            tree.Put(Number(i * 2), new byte[100]);
        return tree;
    }

    private static int NumberOf(TreeCursor cursor) => BinaryPrimitives.ReadInt32BigEndian(cursor.Key) ^ int.MinValue;

    private static byte[] Number(int number)
    {
        var key = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, number ^ int.MinValue);
        return key;
    }
}
