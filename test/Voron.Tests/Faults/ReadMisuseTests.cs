using System.Buffers;

namespace Voron.Tests.Faults;

/// <summary>Wrong calls of the methods that read: each names the parameter, and changes nothing.</summary>
[Quick]
public sealed class ReadMisuseTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    public ReadMisuseTests()
    {
        for (var i = 0; i < 10; i++)
            FaultTestKit.Put(_environment, i, [(byte)i]);
    }

    public void Dispose()
    {
        for (var i = 0; i < 10; i++)
            FaultTestKit.Get(_environment, i).Should().Equal((byte)i);
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Fact]
    public void A_wrong_argument_is_named()
    {
        using var writing = _environment.BeginWrite();
        var writeTree = writing.OpenTree(FaultTestKit.TreeName);
        foreach (var tree in new[] { writeTree.AsReadOnly(), writeTree.ToTree() })
        {
            Refused<ArgumentNullException>(() => tree.TryGet(FaultTestKit.Key(1), (IBufferWriter<byte>)null!), "destination");
            Refused<ArgumentNullException>(() => tree.TryGet(FaultTestKit.Key(99), (IBufferWriter<byte>)null!), "destination");
            Refused<ArgumentOutOfRangeException>(() => tree.GetEntries().Skip(-1), "count");
            Refused<ArgumentOutOfRangeException>(() => tree.GetEntries().Take(-1), "count");
            Refused<ArgumentOutOfRangeException>(() => tree.Range(KeyRange.All).Take(3).Skip(long.MinValue), "count");
            Refused<ArgumentNullException>(() => First(tree).CopyValueTo(null!), "destination");
        }

        Refused<ArgumentNullException>(() => writeTree.TryGet(FaultTestKit.Key(1), (IBufferWriter<byte>)null!), "destination");
        writing.Commit();
    }

    [Fact]
    public void A_range_that_was_cut_twice_cannot_be_reversed_again()
    {
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(FaultTestKit.TreeName);
        FluentActions.Invoking(() => tree.GetEntries().Take(5).Reverse().Skip(1).Reverse()).Should().Throw<InvalidOperationException>()
            .WithMessage("*cannot be reversed again*");
        tree.GetEntries().Take(5).Reverse().Reverse().Reverse().Skip(1).Count().Should().Be(4);
        tree.GetEntries().Reverse().Take(3).Reverse().TryGetFirst(out var entry).Should().BeTrue();
        entry.Value[0].Should().Be(7, "the last three, in order, begin with this one");
    }

    [Fact]
    public void Structs_that_were_never_opened_say_so()
    {
        Never(() => default(TreeRange).GetEnumerator());
        Never(() => default(TreeRange).Count());
        Never(() => default(TreeRange).Any());
        Never(() => default(TreeRange).Reverse().TryGetLast(out _));
        Never(() => default(TreeRange.Enumerator).MoveNext());
        Never(() => _ = default(TreeRange.Enumerator).Current.Key.Length);
        Never(() => _ = default(TreeEntry).Key.Length);
        Never(() => _ = default(TreeEntry).Value.Length);
        Never(() => _ = default(TreeEntry).ValueLength);
        Never(() => default(TreeEntry).TryCopyValueTo(new byte[1], out _));
        Never(() => default(TreeEntry).CopyValueTo(new ArrayBufferWriter<byte>()));
        Never(() => default(Tree).Range(KeyRange.All));
        Never(() => default(Tree).Get("a"u8));
        Never(() => default(Tree).TryGetLength("a"u8, out _));
        Never(() => default(Tree).TryGetFloor("a"u8, out _));
        Never(() => _ = default(Cursor).Entry.Key.Length);
        Never(() => default(WriteTree).TryGetEntry("a"u8, out _));
        default(TreeRange.Enumerator).Dispose();
    }

    [Fact]
    public void An_enumerator_has_an_entry_only_between_the_first_move_and_the_end()
    {
        using var reading = _environment.BeginRead();
        var enumerator = reading.OpenTree(FaultTestKit.TreeName).GetEntries().Take(2).GetEnumerator();
        NoEntry(enumerator.Current);
        enumerator.MoveNext().Should().BeTrue();
        enumerator.Current.Value[0].Should().Be(0);
        var first = enumerator.Current;
        enumerator.MoveNext().Should().BeTrue();
        enumerator.Current.Value[0].Should().Be(1);
        first.Value[0].Should().Be(0, "an entry can be kept");
        enumerator.MoveNext().Should().BeFalse();
        enumerator.MoveNext().Should().BeFalse();
        NoEntry(enumerator.Current);
        enumerator.Dispose();
        first.Value[0].Should().Be(0, "the end of the enumeration is not that of the entry");
    }

    [Fact]
    public void A_disposed_enumerator_says_so()
    {
        using var reading = _environment.BeginRead();
        var enumerator = reading.OpenTree(FaultTestKit.TreeName).GetEntries().GetEnumerator();
        enumerator.MoveNext().Should().BeTrue();
        enumerator.Dispose();
        enumerator.Dispose();
        NoEntry(enumerator.Current);

        // Its cursor is in use again.
        using var other = reading.OpenTree(FaultTestKit.TreeName).GetEntries().GetEnumerator();
        other.MoveNext().Should().BeTrue();
        try
        {
            enumerator.MoveNext();
            Assert.Fail("A disposed enumerator moves.");
        }
        catch (ObjectDisposedException)
        {
        }

        other.MoveNext().Should().BeTrue();
        other.Current.Value[0].Should().Be(1, "the other enumerator has not been moved");
    }

    /// <summary>The cursor of an enumerator is used again, by the same transaction or by the next one with the same objects.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_copy_of_an_ended_enumerator_neither_moves_nor_shows_the_entry_of_another(bool inNextTransaction)
    {
        var reading = _environment.BeginRead();
        var enumerator = reading.OpenTree(FaultTestKit.TreeName).GetEntries().GetEnumerator();
        enumerator.MoveNext().Should().BeTrue();
        var copy = enumerator;
        if (inNextTransaction)
            reading.Dispose();
        else
            enumerator.Dispose();
        using var next = inNextTransaction ? _environment.BeginRead() : reading;
        using var other = next.OpenTree(FaultTestKit.TreeName).GetEntries().GetEnumerator();
        other.MoveNext().Should().BeTrue();
        try
        {
            copy.MoveNext();
            Assert.Fail("An enumerator moves after its end.");
        }
        catch (ObjectDisposedException)
        {
        }

        other.MoveNext().Should().BeTrue();
        other.Current.Value[0].Should().Be(1);
        if (inNextTransaction)
            Ended(copy.Current);
        else
            NoEntry(copy.Current);
        copy.Dispose();
        other.MoveNext().Should().BeTrue("the end of the copy is not that of the other");
    }

    [Theory]
    [InlineData("dispose")]
    [InlineData("commit")]
    [InlineData("rollback")]
    [InlineData("delete tree")]
    [InlineData("rollback of the tree")]
    public void An_enumeration_ends_with_its_transaction_or_tree(string how)
    {
        using var reading = _environment.BeginRead();
        using var writing = _environment.BeginWrite();
        var savepoint = writing.CreateSavepoint();
        var young = writing.CreateTree("young");
        for (var i = 0; i < 10; i++)
            young.Put(FaultTestKit.Key(i), [(byte)i]);
        var tree = how switch
        {
            "dispose" => reading.OpenTree(FaultTestKit.TreeName),
            "delete tree" or "rollback of the tree" => young.ToTree(),
            _ => writing.OpenTree(FaultTestKit.TreeName).ToTree(),
        };
        var range = tree.Range(KeyRange.From(FaultTestKit.Key(2)));
        var enumerator = range.GetEnumerator();
        enumerator.MoveNext().Should().BeTrue();
        var entry = enumerator.Current;
        switch (how)
        {
            case "dispose":
                reading.Dispose();
                break;
            case "commit":
                writing.Commit();
                break;
            case "rollback":
                writing.Dispose();
                break;
            case "delete tree":
                writing.DeleteTree("young").Should().BeTrue();
                break;
            default:
                savepoint.Rollback();
                break;
        }

        var isDropped = how == "delete tree";
        CheckEnded(tree, isDropped);
        var ended = 0;
        for (var call = 0; call < 6; call++)
        {
            try
            {
                _ = call switch
                {
                    0 => enumerator.MoveNext(),
                    1 => enumerator.MoveNext(),
                    2 => range.Any(),
                    3 => range.Count() > 0,
                    4 => entry.Key.Length > 0,
                    _ => enumerator.Current.Value.Length > 0,
                };
            }
            catch (Exception e) when (e is ObjectDisposedException || (e is InvalidOperationException && (isDropped || call == 5)))
            {
                ended++;
            }
        }

        ended.Should().Be(6);
        enumerator.Dispose();
    }

    private static void CheckEnded(Tree tree, bool isDropped)
    {
        Throws(isDropped, () => tree.Range(KeyRange.All));
        Throws(isDropped, () => tree.GetEntries());
        Throws(isDropped, () => tree.Prefix("a"u8));
        Throws(isDropped, () => tree.Get("a"u8));
        Throws(isDropped, () => tree.TryGet("a"u8, new ArrayBufferWriter<byte>()));
        Throws(isDropped, () => tree.TryCopyTo("a"u8, new byte[1], out _));
        Throws(isDropped, () => tree.TryGetLength("a"u8, out _));
        Throws(isDropped, () => tree.TryGetEntry("a"u8, out _));
        Throws(isDropped, () => tree.TryGetFirst(out _));
        Throws(isDropped, () => tree.TryGetCeiling("a"u8, out _));
    }

    private static TreeEntry First(Tree tree) => tree.TryGetFirst(out var entry) ? entry : default;

    private static void Throws(bool isDropped, Action call)
    {
        if (isDropped)
            call.Should().Throw<InvalidOperationException>().WithMessage("*'young'*deleted*");
        else
            call.Should().Throw<ObjectDisposedException>();
    }

    private static void NoEntry(TreeEntry entry)
    {
        try
        {
            _ = entry.Key.Length;
            Assert.Fail("There is an entry.");
        }
        catch (InvalidOperationException e)
        {
            e.Message.Should().StartWith("There is no entry");
        }
    }

    private static void Ended(TreeEntry entry)
    {
        try
        {
            _ = entry.Key.Length;
            Assert.Fail("The entry of an ended transaction can be read.");
        }
        catch (ObjectDisposedException)
        {
        }
    }

    private static void Never(Action call) => call.Should().Throw<InvalidOperationException>();

    private static void Refused<T>(Action call, string parameter)
        where T : ArgumentException => call.Should().Throw<T>().WithParameterName(parameter);
}
