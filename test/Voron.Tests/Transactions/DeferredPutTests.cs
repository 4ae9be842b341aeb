namespace Voron.Tests.Transactions;

/// <summary>Puts wait to be applied together, but no read of the tree may show the difference.</summary>
[Quick]
public sealed class DeferredPutTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(new StorageOptions { MaxTransactionBytes = 4 << 20 });

    public void Dispose() => _environment.Dispose();

    [Fact]
    public void Every_kind_of_read_sees_earlier_puts()
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateTree("t");
        var cursor = tree.OpenCursor();
        for (var i = 0; i < 100; i += 10)
        {
            PutTen(tree, i);
            var last = (byte)(i + 9);
            switch (i / 10)
            {
                case 0:
                    tree.TryGet([last], out var value).Should().BeTrue();
                    value.ToArray().Should().Equal(last, last);
                    break;
                case 1:
                    tree.Contains([last]).Should().BeTrue();
                    break;
                case 2:
                    tree.Count.Should().Be(30);
                    break;
                case 3:
                    cursor.SeekExact([last]).Should().BeTrue();
                    break;
                case 4:
                    cursor.MoveNext().Should().BeTrue();
                    cursor.Key.ToArray().Should().Equal(40);
                    break;
                case 5:
                    tree.Insert([last], [1]).Should().BeFalse();
                    break;
                case 6:
                    tree.Delete([last]).Should().BeTrue();
                    PutTen(tree, i);
                    break;
                case 7:
                    tree.Range(KeyRange.From([75]).Before([78])).GetEnumerator().MoveNext().Should().BeTrue();
                    break;
                case 8:
                    tree.GetStatistics().Entries.Should().Be(90);
                    break;
                default:
                    var batch = new LookupBatch();
                    batch.Add([last]);
                    batch.Add([200]);
                    tree.GetMany(batch).Should().Be(1);
                    batch.TryGetValue(0, out value).Should().BeTrue();
                    value.ToArray().Should().Equal(last, last);
                    batch.TryGetValue(1, out _).Should().BeFalse();
                    break;
            }
        }

        PutTen(tree, 0);
        writing.Commit();
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(100);
    }

    [Fact]
    public void A_savepoint_keeps_earlier_puts_and_undoes_later_ones()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            PutTen(tree, 0);
            var savepoint = writing.CreateSavepoint();
            PutTen(tree, 10);
            savepoint.Rollback();
            PutTen(tree, 20);
            writing.Commit();
        }

        using (var writing = _environment.BeginWrite())
        {
            PutTen(writing.OpenTree("t"), 30);
        }

        using var reading = _environment.BeginRead();
        var found = reading.OpenTree("t");
        found.Count.Should().Be(20);
        found.Contains([0]).Should().BeTrue();
        found.Contains([10]).Should().BeFalse();
        found.Contains([20]).Should().BeTrue();
        found.Contains([30]).Should().BeFalse();
    }

    [Fact]
    public void A_commit_at_the_latest_refuses_puts_that_do_not_fit_and_keeps_nothing()
    {
        using (var writing = _environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            var act = () =>
            {
                for (var i = 0; i < 20_000; i++)
                    tree.Put(BitConverter.GetBytes(i * 7919), new byte[500]);
                writing.Commit();
            };
            act.Should().Throw<TransactionTooLargeException>().WithMessage("*MaxTransactionBytes*");
            writing.Invoking(broken => broken.Commit()).Should().Throw<InvalidOperationException>();
        }

        using var reading = _environment.BeginRead();
        reading.TryOpenTree("t", out _).Should().BeFalse();
    }

    [Fact]
    public async Task Operations_of_a_group_commit_fail_alone_also_when_their_puts_are_late()
    {
        var large = _environment.WriteAsync(
            transaction =>
        {
            var tree = transaction.CreateTree("t");
            for (var i = 0; i < 20_000; i++)
                tree.Put(BitConverter.GetBytes(i * 7919), new byte[500]);
        }, TestContext.Current.CancellationToken);
        var small = _environment.WriteAsync(transaction => PutTen(transaction.CreateTree("t"), 0), TestContext.Current.CancellationToken);
        await large.AsTask().Invoking(task => task).Should().ThrowAsync<StorageFullException>();
        await small;
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(10);
    }

    [Fact]
    public void A_batch_ends_with_its_transaction_and_with_a_change_of_its_keys()
    {
        using (var writing = _environment.BeginWrite())
        {
            PutTen(writing.CreateTree("t"), 0);
            writing.Commit();
        }

        var batch = new LookupBatch();
        batch.Add([1]);
        batch.Invoking(b => b.TryGetValue(0, out _)).Should().Throw<InvalidOperationException>();
        using (var reading = _environment.BeginRead())
        {
            reading.OpenTree("t").GetMany(batch).Should().Be(1);
            batch.TryGetValue(0, out _).Should().BeTrue();
            batch.Add([2]);
            batch.Invoking(b => b.TryGetValue(0, out _)).Should().Throw<InvalidOperationException>();
            reading.OpenTree("t").GetMany(batch).Should().Be(2);
            batch.Invoking(b => b.TryGetValue(2, out _)).Should().Throw<ArgumentOutOfRangeException>();
        }

        batch.Invoking(b => b.TryGetValue(0, out _)).Should().Throw<ObjectDisposedException>();
    }

    // Puts keys between older ones, because keys that are appended in order are applied at once.
    private static void PutTen(WriteTree tree, int from)
    {
        tree.Put([255], [255, 255]);
        for (var i = from + 9; i >= from; i--)
            tree.Put([(byte)i], [(byte)i, (byte)i]);
        tree.Delete([255]);
    }
}
