using System.Buffers;

namespace Voron.Tests.Dictionaries;

/// <summary>A tree with compressed values answers as one without, whichever call reads or changes it.</summary>
public sealed class CompressedTreeTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private StorageEnvironment _environment;

    public CompressedTreeTests()
    {
        _environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options());
    }

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Theory]
    [InlineData(ValueCompression.Fast)]
    [InlineData(ValueCompression.Thorough)]
    public void Values_are_smaller_and_come_back(ValueCompression compression)
    {
        _environment.Write(writing => writing.CreateTree("plain"));
        _environment.Fill(0, 4000, tree: "plain");
        _environment.Compress(compression);
        _environment.Fill(0, 2000);
        _environment.Train().Should().BeTrue();
        _environment.Fill(2000, 2000);
        _environment.Recompress().Rewritten.Should().Be(2000);
        var (plain, packed) = (_environment.Statistics("plain").LeafPages, _environment.Statistics().LeafPages);
        packed.Should().BeLessThan(plain * 2 / 3);
        AssertAll(4000);
        _environment.AssertSound();
        Reopen();
        AssertAll(4000);
        _environment.AssertSound();
    }

    [Fact]
    public void Every_call_that_reads_returns_the_plain_value()
    {
        Prepare();
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        var (key, value) = (CompressionKit.Key(7), CompressionKit.Record(7));
        tree.TryGet(key, out var span).Should().BeTrue();
        span.SequenceEqual(value).Should().BeTrue();
        tree.Get(key).Should().Equal(value);
        tree.TryGetLength(key, out var length).Should().BeTrue();
        length.Should().Be(value.Length);
        var writer = new ArrayBufferWriter<byte>(1);
        tree.TryGet(key, writer).Should().BeTrue();
        writer.WrittenSpan.SequenceEqual(value).Should().BeTrue();
        var buffer = new byte[value.Length];
        tree.TryCopyTo(key, buffer, out var written).Should().BeTrue();
        buffer.AsSpan(0, written).SequenceEqual(value).Should().BeTrue();
        tree.TryCopyTo(key, buffer.AsSpan(1), out _).Should().BeFalse();
        tree.TryGetEntry(key, out var entry).Should().BeTrue();
        entry.Value.SequenceEqual(value).Should().BeTrue();
        tree.TryGetFloor(key, out entry).Should().BeTrue();
        entry.Value.SequenceEqual(value).Should().BeTrue();
        tree.TryOpenStream(key, out var stream).Should().BeTrue();
        using var copy = new MemoryStream();
        stream!.CopyTo(copy);
        copy.ToArray().Should().Equal(value);
        var batch = new LookupBatch();
        for (var i = 0; i < 300; i++)
            batch.Add(CompressionKit.Key(i * 7));
        for (var round = 0; round < 2; round++)
        {
            tree.GetMany(batch).Should().BePositive();
            for (var i = 0; i < 300; i++)
            {
                batch.TryGetValue(i, out var found).Should().Be(i * 7 < 1000);
                found.SequenceEqual(i * 7 < 1000 ? CompressionKit.Record(i * 7) : []).Should().BeTrue();
            }
        }
    }

    [Fact]
    public void Cursors_and_ranges_return_plain_values_in_both_directions()
    {
        Prepare();
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        using var cursor = tree.OpenCursor();
        var count = 0;
        for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext(), count++)
        {
            cursor.Value.SequenceEqual(CompressionKit.Record(count)).Should().BeTrue();
            cursor.ValueLength.Should().Be(cursor.Value.Length);
            cursor.Entry.Value.SequenceEqual(cursor.Value).Should().BeTrue();
        }

        count.Should().Be(1000);
        for (var found = cursor.SeekLast(); found; found = cursor.MovePrevious())
            cursor.Value.SequenceEqual(CompressionKit.Record(--count)).Should().BeTrue();
        foreach (var entry in tree.GetEntries())
            entry.Value.SequenceEqual(CompressionKit.Record(count++)).Should().BeTrue();
        foreach (var entry in tree.GetEntries().Reverse())
            entry.Value.SequenceEqual(CompressionKit.Record(--count)).Should().BeTrue();
    }

    [Fact]
    public void An_entry_that_is_kept_has_its_own_value()
    {
        Prepare();
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        using var cursor = tree.OpenCursor();
        cursor.Seek(CompressionKit.Key(5)).Should().BeTrue();
        var kept = cursor.Entry;
        kept.Value.SequenceEqual(CompressionKit.Record(5)).Should().BeTrue();
        cursor.MoveNext();
        var value = kept.Value;
        cursor.Value.SequenceEqual(CompressionKit.Record(6)).Should().BeTrue();
        value.SequenceEqual(CompressionKit.Record(5)).Should().BeTrue();
    }

    [Fact]
    public void A_scan_keeps_nothing_and_single_reads_have_a_limit()
    {
        _environment.Compress(ValueCompression.Fast);
        _environment.Write(writing =>
        {
            var tree = writing.OpenTree(CompressionKit.TreeName);
            for (var i = 0; i < 100; i++)
                tree.Put(CompressionKit.Key(i), CompressionKit.Record(i, 15_000));
        });
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        for (var round = 0; round < SuiteShare.Rounds(60); round++)
        {
            foreach (var entry in tree.GetEntries())
                entry.Value.Length.Should().BeGreaterThan(14_999);
        }

        var read = 0;
        string? message = null;
        var buffer = new ArrayBufferWriter<byte>();
        for (; message == null; read++)
        {
            try
            {
                tree.TryGet(CompressionKit.Key(read % 100), out _);
            }
            catch (InvalidOperationException e)
            {
                message = e.Message;
            }
        }

        read.Should().BeInRange(4000, 4500);
        message.Should().Contain("64 MiB").And.Contain("TryGet").And.Contain("buffer writer");
        tree.TryGet(CompressionKit.Key(1), buffer).Should().BeTrue();
        tree.Get(CompressionKit.Key(2)).Should().Equal(CompressionKit.Record(2, 15_000));
        using var other = _environment.BeginRead();
        other.OpenTree(CompressionKit.TreeName).TryGet(CompressionKit.Key(1), out _).Should().BeTrue();
    }

    [Fact]
    public void Changes_that_look_at_the_old_value_see_the_plain_one()
    {
        Prepare();
        _environment.Write(writing =>
        {
            var tree = writing.OpenTree(CompressionKit.TreeName);
            var (key, value, other) = (CompressionKit.Key(1), CompressionKit.Record(1), CompressionKit.Record(5000));
            tree.CompareExchange(key, other, other).Should().BeFalse();
            tree.CompareExchange(key, other, value).Should().BeTrue();
            tree.Exchange(key, value).Should().Equal(other);
            tree.DeleteIf(key, other).Should().BeFalse();
            tree.DeleteIf(key, value).Should().BeTrue();
            tree.Insert(key, value).Should().BeTrue();
            tree.Insert(key, other).Should().BeFalse();
            tree.Remove(key).Should().Equal(value);
            tree.Add(key, 5).Should().Be(5);
            tree.Increment(key, 2);
            tree.Add(key, 1).Should().Be(8);
            var add = () => writing.OpenTree(CompressionKit.TreeName).Add(CompressionKit.Key(2), 1);
            add.Should().Throw<InvalidOperationException>();
            tree.Reserve(key, 500).Fill(7);
            tree.Get(key).Should().Equal(Enumerable.Repeat((byte)7, 500));
            tree.Put(key, value);
            tree.DeleteRange(KeyRange.From(CompressionKit.Key(500))).Should().Be(500);
        });
        AssertAll(500);
        _environment.AssertSound();
    }

    [Fact]
    public void Values_that_are_short_or_random_or_large_stay_as_they_are()
    {
        _environment.Compress();
        _environment.Write(writing =>
        {
            var tree = writing.OpenTree(CompressionKit.TreeName);
            tree.Put([1], new byte[63]);
            tree.Put([2], CompressionKit.Noise(2, 1000));
            tree.Put([3], CompressionKit.Noise(3, 10_000));
            tree.Put([4], new byte[20_000]);
            tree.Put([5], new byte[10_000]);
            tree.Put([6], CompressionKit.Record(6, 16_000));
            tree.Put([7], []);
        });
        using (var reading = _environment.BeginRead())
        {
            var tree = reading.OpenTree(CompressionKit.TreeName);
            tree.Get([1]).Should().Equal(new byte[63]);
            tree.Get([2]).Should().Equal(CompressionKit.Noise(2, 1000));
            tree.Get([3]).Should().Equal(CompressionKit.Noise(3, 10_000));
            tree.Get([4]).Should().Equal(new byte[20_000]);
            tree.Get([5]).Should().Equal(new byte[10_000]);
            tree.Get([6]).Should().Equal(CompressionKit.Record(6, 16_000));
            tree.Get([7]).Should().BeEmpty();

            // Three pages of the random value, five of the large one, and what is left of 16,000 bytes of text.
            tree.GetStatistics().OverflowPages.Should().BeInRange(9, 11);
        }

        _environment.AssertSound();
        _environment.Write(writing => writing.OpenTree(CompressionKit.TreeName).Clear());
        _environment.AssertSound();
        _environment.Statistics().OverflowPages.Should().Be(0);
    }

    [Fact]
    public void Compression_can_be_turned_off_and_its_traces_removed()
    {
        Prepare();
        _environment.Write(writing => writing.CompressValues(CompressionKit.TreeName, ValueCompression.None));
        _environment.Write(writing => writing.GetValueCompression(CompressionKit.TreeName)).Should().Be(ValueCompression.None);
        AssertAll(1000);
        _environment.Fill(1000, 10);
        var report = _environment.Recompress();
        report.Rewritten.Should().Be(1000);
        report.DroppedDictionaries.Should().Be(1);
        report.IsTrained.Should().BeFalse();
        Reopen();
        AssertAll(1010);

        // A number is never given twice.
        _environment.Write(writing => writing.CompressValues(CompressionKit.TreeName, ValueCompression.Fast));
        _environment.Fill(0, 100);
        AssertAll(1010);
        _environment.Train().Should().BeTrue();
        _environment.Recompress().Rewritten.Should().Be(1010);
        Reopen();
        AssertAll(1010);
        _environment.AssertSound();
    }

    [Fact]
    public async Task A_deleted_tree_leaves_no_dictionaries()
    {
        Prepare();
        _environment.Write(writing => writing.DeleteTree(CompressionKit.TreeName)).Should().BeTrue();
        _environment.AssertSound();
        Prepare();
        _environment.Write(writing => writing.RenameTree(CompressionKit.TreeName, "other"));
        _environment.AssertSound();
        (await _environment.DropTreeAsync("other", CompressionKit.Token)).Should().BeTrue();
        _environment.AssertSound();
        using var reading = _environment.BeginRead();
        reading.GetSystemTrees().Should().BeEmpty();
    }

    [Fact]
    public void Savepoints_undo_values_and_settings()
    {
        Prepare();
        _environment.Write(writing =>
        {
            var tree = writing.OpenTree(CompressionKit.TreeName);
            tree.Put(CompressionKit.Key(1), CompressionKit.Record(77));
            var savepoint = writing.CreateSavepoint();
            tree.Put(CompressionKit.Key(1), CompressionKit.Record(78));
            writing.CompressValues(CompressionKit.TreeName, ValueCompression.None);
            tree.Put(CompressionKit.Key(2), CompressionKit.Record(79));
            savepoint.Rollback();
            savepoint.Dispose();
            tree.Get(CompressionKit.Key(1)).Should().Equal(CompressionKit.Record(77));
            tree.Get(CompressionKit.Key(2)).Should().Equal(CompressionKit.Record(2));
            writing.GetValueCompression(CompressionKit.TreeName).Should().Be(ValueCompression.Thorough);
            tree.Put(CompressionKit.Key(1), CompressionKit.Record(1));
        });
        AssertAll(1000);
        _environment.AssertSound();
    }

    [Fact]
    public void A_snapshot_reads_with_a_dictionary_that_was_dropped()
    {
        Prepare();
        using var old = _environment.BeginRead();
        _environment.Write(writing => writing.CompressValues(CompressionKit.TreeName, ValueCompression.None));
        _environment.Recompress().DroppedDictionaries.Should().Be(1);
        var tree = old.OpenTree(CompressionKit.TreeName);
        for (var i = 0; i < 1000; i++)
            tree.Get(CompressionKit.Key(i)).Should().Equal(CompressionKit.Record(i));
        AssertAll(1000);
    }

    private void Prepare()
    {
        _environment.Compress();
        _environment.Fill(0, 1000);
        _environment.Train().Should().BeTrue();
        _environment.Recompress().Rewritten.Should().Be(1000);
    }

    private void Reopen()
    {
        _environment.Dispose();
        _environment = StorageEnvironment.Open(_directory.Path, CompressionKit.Options());
    }

    private void AssertAll(int count)
    {
        using var reading = _environment.BeginRead();
        var tree = reading.OpenTree(CompressionKit.TreeName);
        tree.Count.Should().Be(count);
        for (var i = 0; i < count; i++)
            tree.Get(CompressionKit.Key(i)).Should().Equal(CompressionKit.Record(i));
    }
}
