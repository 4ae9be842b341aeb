namespace Voron.Tests.Faults;

/// <summary>
/// A wrong call throws an ordinary exception that names the numbers, and the environment continues as if the call had not been made.
/// </summary>
public sealed class MisuseTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    public void Dispose()
    {
        FaultTestKit.Put(_environment, 77, FaultTestKit.Value(77, 77));
        FaultTestKit.Get(_environment, 77).Should().Equal(FaultTestKit.Value(77, 77));
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(8192)]
    [InlineData(65536)]
    public void A_key_has_one_byte_to_the_limit(int pageSize)
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, PageSize = pageSize });
        var longest = environment.MaxKeyLength;
        longest.Should().Be(pageSize / 4 - 64);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("t");
            foreach (var length in new[] { 0, longest + 1, longest + 1000 })
            {
                var key = FaultTestKit.Value(length, length);
                var calls = new Action[]
                {
                    () => tree.Put(key, [1]),
                    () => tree.Insert(key, [1]),
                    () => tree.Reserve(key, 1),
                    () => tree.PutAsync(key, Stream.Null).AsTask().GetAwaiter().GetResult(),
                };
                foreach (var call in calls)
                    call.Should().Throw<ArgumentException>().WithMessage($"*1 to {longest} bytes*{length}*");
                tree.TryGet(key, out _).Should().BeFalse("a key that cannot be there is not there");
                tree.Delete(key).Should().BeFalse();
            }

            for (var i = 0; i < 200; i++)
                tree.Put(FaultTestKit.Value(i, longest), FaultTestKit.Value(i, i));
            tree.Count.Should().Be(200);
            writing.Commit();
        }

        using var reading = environment.BeginRead();
        for (var i = 0; i < 200; i++)
        {
            reading.OpenTree("t").TryGet(FaultTestKit.Value(i, longest), out var value).Should().BeTrue();
            value.SequenceEqual(FaultTestKit.Value(i, i)).Should().BeTrue("a value of {0} bytes too", i);
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_value_of_no_bytes_is_a_value()
    {
        FaultTestKit.Put(_environment, 1, []);
        FaultTestKit.Get(_environment, 1).Should().BeEmpty().And.NotBeNull();
        _environment.Flush();
        FaultTestKit.Get(_environment, 1).Should().BeEmpty().And.NotBeNull();
        FaultTestKit.Get(_environment, 2).Should().BeNull();
        using var writing = _environment.BeginWrite();
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        tree.Reserve(FaultTestKit.Key(3), 0).Length.Should().Be(0);
        FluentActions.Invoking(() => tree.Reserve(FaultTestKit.Key(4), -1)).Should().Throw<ArgumentOutOfRangeException>().WithMessage("*-1*");
        FluentActions.Invoking(() => tree.Reserve(FaultTestKit.Key(4), 65536)).Should().Throw<ArgumentOutOfRangeException>().WithMessage("*65536*");
        writing.Commit();
        FaultTestKit.Get(_environment, 3).Should().BeEmpty().And.NotBeNull();
    }

    [Fact]
    public void Names_of_odd_kinds_are_taken_when_they_are_text_of_1_to_255_bytes()
    {
        string[] good = ["a", new('n', 255), new('ä', 127), "\0", "a\0b", " ", "日本語", "😀", "/", "..", "\u200b", "e\u0301", "\u00e9"];
        using (var writing = _environment.BeginWrite())
        {
            foreach (var name in good)
                writing.CreateTree(name).Put("name"u8, System.Text.Encoding.UTF8.GetBytes(name));
            string[] bad = ["", new('n', 256), new('ä', 128), "\ud83d", "x\ude00y"];
            foreach (var name in bad)
            {
                FluentActions.Invoking(() => writing.CreateTree(name)).Should().Throw<ArgumentException>().WithMessage(
                    name.Length is 0 or > 3 ? $"*1 to 255 bytes*{System.Text.Encoding.UTF8.GetByteCount(name)}*" : "*surrogate*");
                FluentActions.Invoking(() => writing.OpenTree(name)).Should().Throw<ArgumentException>();
                FluentActions.Invoking(() => writing.DeleteTree(name)).Should().Throw<ArgumentException>();
                FluentActions.Invoking(() => writing.RenameTree("a", name)).Should().Throw<ArgumentException>();
            }

            FluentActions.Invoking(() => writing.CreateTree(null!)).Should().Throw<ArgumentNullException>();
            FluentActions.Invoking(() => writing.RenameTree("a", "/")).Should().Throw<ArgumentException>().WithMessage("*'/'*");
            FluentActions.Invoking(() => writing.OpenTree("missing")).Should().Throw<KeyNotFoundException>().WithMessage("*'missing'*");
            writing.DeleteTree("missing").Should().BeFalse();
            writing.RenameTree("missing", "found").Should().BeFalse();
            writing.Commit();
        }

        using var reading = _environment.BeginRead();
        reading.GetTreeNames().Should().BeEquivalentTo(good);
        foreach (var name in good)
        {
            reading.OpenTree(name).TryGet("name"u8, out var value).Should().BeTrue();
            System.Text.Encoding.UTF8.GetString(value).Should().Be(name);
        }
    }

    [Fact]
    public void Every_handle_says_that_it_has_ended()
    {
        FaultTestKit.Put(_environment, 1, [1]);
        var reading = _environment.BeginRead();
        var readTree = reading.OpenTree(FaultTestKit.TreeName);
        var readCursor = readTree.OpenCursor();
        readCursor.SeekFirst().Should().BeTrue();
        reading.Dispose();
        reading.Dispose();
        Ended(() => reading.OpenTree(FaultTestKit.TreeName), () => _ = reading.TransactionId, () => reading.GetTreeNames());
        Ended(() => readTree.Contains("a"u8), () => _ = readTree.Count, () => _ = readTree.Name, () => readTree.OpenCursor());
        Ended(() => readCursor.MoveNext(), () => _ = readCursor.Key.Length, () => _ = readCursor.IsOnEntry);
        readCursor.Dispose();

        var writing = _environment.BeginWrite();
        var tree = writing.OpenTree(FaultTestKit.TreeName);
        var cursor = tree.OpenCursor();
        cursor.SeekFirst().Should().BeTrue();
        FluentActions.Invoking(() => readTree.Count).Should().Throw<ObjectDisposedException>();
        var closed = tree.OpenCursor();
        closed.Dispose();
        Ended(() => closed.MoveNext());
        var savepoint = writing.CreateSavepoint();
        writing.Commit();
        writing.Dispose();
        Ended(() => writing.Commit(), () => writing.CreateTree("x"), () => writing.CreateSavepoint(), () => writing.GetTreeNames());
        Ended(() => tree.Put("a"u8, "b"u8), () => tree.Delete("a"u8), () => tree.TryGet("a"u8, out _), () => tree.Reserve("a"u8, 1));
        Ended(() => cursor.MoveNext(), () => cursor.Delete(), () => savepoint.Rollback(), () => savepoint.Release());

        // The next transaction reuses the same objects: the old handles must not reach into it.
        using (var next = _environment.BeginWrite())
        {
            next.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(2), [2]);
            Ended(() => tree.Put("a"u8, "b"u8), () => writing.Commit());
            writing.Dispose();
            savepoint.Dispose();
            next.Commit();
        }

        FaultTestKit.Get(_environment, 2).Should().Equal(2);
    }

    [Fact]
    public void Handles_that_were_never_begun_say_so()
    {
        FluentActions.Invoking(() => default(ReadTransaction).OpenTree("a")).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => default(WriteTransaction).Commit()).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => default(Tree).Count).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => default(WriteTree).Put("a"u8, "a"u8)).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => default(Cursor).MoveNext()).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => default(Savepoint).Rollback()).Should().Throw<InvalidOperationException>();
        default(ReadTransaction).Dispose();
        default(WriteTransaction).Dispose();
        default(Cursor).Dispose();
    }

    [Fact]
    public void A_tree_that_was_deleted_or_rolled_back_and_an_ended_savepoint_say_so()
    {
        using var writing = _environment.BeginWrite();
        var doomed = writing.CreateTree("doomed");
        writing.DeleteTree("doomed").Should().BeTrue();
        FluentActions.Invoking(() => doomed.Put("a"u8, "a"u8)).Should().Throw<InvalidOperationException>().WithMessage("*'doomed'*deleted*");
        var outer = writing.CreateSavepoint();
        var inner = writing.CreateSavepoint();
        var young = writing.CreateTree("young");
        outer.Rollback();
        Ended(() => young.Put("a"u8, "a"u8));
        FluentActions.Invoking(() => inner.Rollback()).Should().Throw<InvalidOperationException>();
        FluentActions.Invoking(() => inner.Release()).Should().Throw<InvalidOperationException>();
        outer.Release();
        FluentActions.Invoking(() => outer.Rollback()).Should().Throw<InvalidOperationException>();
        writing.Commit();
    }

    [Fact]
    public void A_cursor_for_reading_deletes_nothing()
    {
        FaultTestKit.Put(_environment, 1, [1]);
        using var reading = _environment.BeginRead();
        using var cursor = reading.OpenTree(FaultTestKit.TreeName).OpenCursor();
        FluentActions.Invoking(() => cursor.Key.Length).Should().Throw<InvalidOperationException>().WithMessage("*entry*");
        cursor.SeekFirst().Should().BeTrue();
        FluentActions.Invoking(() => cursor.Delete()).Should().Throw<InvalidOperationException>().WithMessage("*read transaction*");
    }

    [Fact]
    public void A_closed_environment_says_so()
    {
        var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var reading = environment.BeginRead();
        environment.Dispose();
        environment.Dispose();
        Ended(
            () => environment.BeginRead(),
            () => environment.BeginWrite(),
            () => environment.Flush(),
            () => environment.Verify(),
            () => environment.GetStatistics(),
            () => environment.WriteAsync(_ => { }).AsTask().GetAwaiter().GetResult(),
            () => environment.BeginWriteAsync().AsTask().GetAwaiter().GetResult());

        // A reader that was open at the close can be used until its end.
        reading.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(1), out var value).Should().BeTrue();
        value.ToArray().Should().Equal(1);
        reading.Dispose();
    }

    [Fact]
    public void A_transaction_over_its_limit_is_refused_before_anything_is_written()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 1 << 20 });
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
        var written = environment.GetStatistics().JournalBytes;
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree(FaultTestKit.TreeName);
            var fill = () =>
            {
                for (var i = 0; i < 10_000; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 1000));
            };
            fill.Should().Throw<TransactionTooLargeException>().WithMessage("*1048576*MaxTransactionBytes*");
            FluentActions.Invoking(() => tree.Put(FaultTestKit.Key(1), [1])).Should().Throw<InvalidOperationException>().WithMessage("*rolled back*");
            FluentActions.Invoking(() => writing.Commit()).Should().Throw<InvalidOperationException>();
        }

        environment.GetStatistics().JournalBytes.Should().Be(written);
        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 100));
        FaultTestKit.Get(environment, 2).Should().BeNull();
        FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 100));
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void A_savepoint_saves_a_transaction_that_went_over_its_limit()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 1 << 20 });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(FaultTestKit.TreeName);
            tree.Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 100));
            var savepoint = writing.CreateSavepoint();
            FluentActions.Invoking(() => tree.Put(FaultTestKit.Key(2), FaultTestKit.Value(2, 15_000))).Should().NotThrow();
            var fill = () =>
            {
                for (var i = 3; i < 10_000; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 15_000));
            };
            fill.Should().Throw<StorageFullException>();
            savepoint.Rollback();
            writing.Commit();
        }

        FaultTestKit.Get(environment, 1).Should().Equal(FaultTestKit.Value(1, 100));
        FaultTestKit.Get(environment, 2).Should().BeNull();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void All_options_that_do_not_fit_are_named_together()
    {
        var options = new StorageOptions
        {
            PageSize = 5000,
            JournalCompression = (JournalCompression)9,
            InitialJournalFileBytes = 1,
            MaxJournalFileBytes = 0,
            FlushThresholdBytes = 0,
            FlushInterval = TimeSpan.Zero,
            Durability = (Durability)2,
            LazyInterval = TimeSpan.Zero,
            JournalLimitBytes = -1,
            ScratchMemoryBytes = 3,
            ScratchLimitBytes = 2,
            MaxTransactionBytes = 7,
            MaxGroupCommitBytes = 0,
            MaxQueuedOperations = -3,
            KeyHeadCacheBytes = -1,
            LargeValueBytes = 100,
            PreferredFreeFraction = double.NaN,
            MaxGrowthBytes = 5,
            OpenMode = (OpenMode)9,
            LockTimeout = TimeSpan.FromSeconds(-3),
            StatusInterval = TimeSpan.FromMilliseconds(9),
            MemoryLimitBytes = 1000,
            Trees = { "fine", "" },
            Name = "",
        };
        var message = FluentActions.Invoking(() => StorageEnvironment.OpenInMemory(options)).Should().Throw<ArgumentException>().Which.Message;
        foreach (var fault in new[]
        {
            "PageSize is 5000", "JournalCompression is 9", "InitialJournalFileBytes is 1;", "MaxJournalFileBytes (0)", "FlushThresholdBytes is 0",
            "FlushInterval is 00:00:00", "Durability is 2", "LazyInterval is 00:00:00", "JournalLimitBytes (-1)",
            "ScratchMemoryBytes is 3", "ScratchLimitBytes (2)", "MaxTransactionBytes is 7",
            "MaxGroupCommitBytes is 0", "MaxQueuedOperations is -3",
            "KeyHeadCacheBytes is -1", "LargeValueBytes is 100", "PreferredFreeFraction is NaN", "MaxGrowthBytes is 5", "OpenMode is 9",
            "LockTimeout is -00:00:03", "StatusInterval is 00:00:00.0090000", "MemoryLimitBytes is 1000", "Trees has a name with 0 bytes in UTF-8 at index 1", "Name is empty",
        })
        {
            message.Should().Contain(fault);
        }

        using var directory = new TemporaryDirectory();
        var path = Path.Combine(directory.Path, "none");
        FluentActions.Invoking(() => StorageEnvironment.Open(path, options)).Should().Throw<ArgumentException>();
        Directory.Exists(path).Should().BeFalse();
        FluentActions.Invoking(() => StorageEnvironment.Open("")).Should().Throw<ArgumentException>();
        FluentActions.Invoking(() => StorageEnvironment.Open(null!)).Should().Throw<ArgumentNullException>();
    }

    private static void Ended(params Action[] calls)
    {
        foreach (var call in calls)
            call.Should().Throw<ObjectDisposedException>();
    }
}
