
namespace Voron.Tests.Transactions;

/// <summary>
/// An operation of a group commit cannot end the transaction that it shares: disposing of it undoes the operation alone, and fails its call; a
/// commit is refused; and nothing that it keeps is of use after its end.
/// </summary>
[Quick]
public sealed class OperationEndTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(
        new StorageOptions { BackgroundFlush = false, MaxGroupCommitDuration = TimeSpan.FromMinutes(1) });

    /// <summary>The ways in which an operation may dispose of its transaction.</summary>
    public static TheoryData<string> Disposals =>
        ["at once", "by using", "a copy", "twice", "in a savepoint", "in a nested transaction",
            "after a rollback to a savepoint", "on another thread"];

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Theory]
    [MemberData(nameof(Disposals))]
    public async Task An_operation_that_disposes_of_its_transaction_fails_and_is_undone_alone(string way)
    {
        _environment.Write(writing => writing.CreateTree("kept").Put("key"u8, "old"u8));
        Exception? afterwards = null;
        Task before, disposing, after;
        using (_environment.BeginWrite())
        {
            before = _environment.WriteAsync(writing => writing.CreateTree("before"), Cancellation).AsTask();
            disposing = _environment.WriteAsync(
                writing =>
                {
                    var tree = writing.OpenTree("kept");
                    tree.Put("key"u8, "new"u8);
                    writing.CreateTree("undone");
                    DisposeOf(writing, way);
                    afterwards = Record(() => writing.CreateTree("too late"));
                    Record(() => tree.Put("key"u8, "too late"u8)).Should().BeOfType<ObjectDisposedException>();
                    Record(() => writing.Dispose()).Should().BeNull("a second disposal does nothing");
                },
                Cancellation).AsTask();
            after = _environment.WriteAsync(writing => writing.OpenTree("kept").Put("after"u8, "after"u8), Cancellation).AsTask();
        }

        await FluentActions.Awaiting(() => disposing.WaitAsync(TestWait.Limit, Cancellation))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*disposed of its transaction*");
        await before.WaitAsync(TestWait.Limit, Cancellation);
        await after.WaitAsync(TestWait.Limit, Cancellation);
        afterwards.Should().BeOfType<ObjectDisposedException>().Which.Message.Should().StartWith("The transaction has ended.");
        using var reading = _environment.BeginRead();
        reading.GetTreeNames().Should().Equal("before", "kept");
        reading.OpenTree("kept").TryGet("key"u8, out var value).Should().BeTrue();
        value.SequenceEqual("old"u8).Should().BeTrue();
        reading.OpenTree("kept").Contains("after"u8).Should().BeTrue();
    }

    [Fact]
    public void An_operation_that_disposes_and_throws_fails_with_its_own_exception()
    {
        _environment.Invoking(environment => environment.Write(writing =>
        {
            using (writing)
            {
                writing.CreateTree("undone");
                throw new InvalidDataException("its own");
            }
        })).Should().Throw<InvalidDataException>().WithMessage("its own");
        _environment.Invoking(environment => environment.Write(writing =>
        {
            try
            {
                writing.CreateTree("undone too");
                throw new InvalidDataException("its own");
            }
            catch (InvalidDataException)
            {
                writing.Dispose();
                throw;
            }
        })).Should().Throw<InvalidDataException>().WithMessage("its own");
        Names().Should().BeEmpty();
    }

    [Fact]
    public void A_commit_is_refused_and_an_operation_that_continues_is_committed_with_the_others()
    {
        _environment.Write(writing =>
        {
            writing.CreateTree("t");
            FluentActions.Invoking(() => writing.Commit()).Should().Throw<InvalidOperationException>().WithMessage("*must not commit*");
            FluentActions.Invoking(() => writing.CommitAsync(Cancellation))
                .Should().Throw<InvalidOperationException>().WithMessage("*must not commit*");
            writing.OpenTree("t").Put("a"u8, "a"u8);
        });
        Names().Should().Equal("t");
        _environment.Invoking(environment => environment.Write(writing =>
        {
            using var own = writing;
            own.CreateTree("undone");
            own.Commit();
        })).Should().Throw<InvalidOperationException>().WithMessage("*must not commit*");
        Names().Should().Equal("t");
    }

    [Fact]
    public void Handles_that_are_kept_are_of_no_use_after_the_operation()
    {
        WriteTransaction kept = default;
        WriteTree tree = default;
        Savepoint savepoint = default;
        NestedTransaction nested = default;
        _environment.Write(writing =>
        {
            kept = writing;
            tree = writing.CreateTree("t");
            nested = writing.BeginNested();
            nested.Commit();
            savepoint = writing.CreateSavepoint();
        });
        AreEnded();
        using (var next = _environment.BeginWrite())
        {
            next.OpenTree("t").Put("a"u8, "a"u8);
            AreEnded();
            next.Commit();
        }

        _environment.Write(writing =>
        {
            writing.OpenTree("t").Put("b"u8, "b"u8);
            var own = writing.CreateSavepoint();
            AreEnded();
            own.Release();
        });
        using var reading = _environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(2);

        void AreEnded()
        {
            foreach (var call in new Action[]
            {
                () => kept.CreateTree("never"), () => kept.Commit(), () => kept.CreateSavepoint(), () => tree.Put("c"u8, "c"u8),
                () => savepoint.Rollback(), () => savepoint.Release(), () => nested.Commit(),
            })
            {
                call.Should().Throw<ObjectDisposedException>().WithMessage("The transaction has ended.*");
            }

            kept.Dispose();
            savepoint.Dispose();
            nested.Dispose();
        }
    }

    [Fact]
    public async Task A_handle_that_another_thread_keeps_ends_with_its_operation()
    {
        using var hasReturned = new ManualResetEventSlim();
        var late = Task.CompletedTask;
        await _environment.WriteAsync(
            writing =>
            {
                writing.CreateTree("t");
                late = Task.Run(
                    () =>
                    {
                        hasReturned.Wait(TestWait.Limit);
                        writing.Dispose();
                        writing.CreateTree("too late");
                    },
                    CancellationToken.None);
            },
            Cancellation);
        hasReturned.Set();
        await FluentActions.Awaiting(() => late.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<ObjectDisposedException>();
        Names().Should().Equal("t");
    }

    [Fact]
    public void Calls_of_the_environment_that_need_the_writer_are_refused_inside()
    {
        var refused = new Dictionary<string, Action>
        {
            ["BeginWrite"] = () => _environment.BeginWrite().Dispose(),
            ["Write"] = () => _environment.Write(_ => { }),
            ["WriteAsync"] = () => _environment.WriteAsync(_ => 5).AsTask().Wait(),
            ["BeginWriteAsync"] = () => _environment.BeginWriteAsync().AsTask().Wait(),
            ["Flush"] = () => _environment.Flush(),
            ["ReclaimSpace"] = () => _environment.ReclaimSpace(),
            ["Dispose"] = _environment.Dispose,
            ["DisposeAsync"] = () => _environment.DisposeAsync().AsTask().Wait(),
        };
        _environment.Write(writing =>
        {
            writing.CreateTree("t");
            foreach (var (name, call) in refused)
            {
                var thrown = Record(call);
                (thrown is AggregateException several ? several.InnerException : thrown)
                    .Should().BeOfType<InvalidOperationException>(name).Which.Message.Should().StartWith(name + " ");
            }
        });
        Names().Should().Equal("t");
    }

    private static void DisposeOf(WriteTransaction writing, string way)
    {
        switch (way)
        {
            case "at once":
                writing.Dispose();
                break;
            case "by using":
                using (writing)
                    writing.CreateTree("in using");
                break;
            case "a copy":
                var copy = writing;
                copy.Dispose();
                break;
            case "twice":
                writing.Dispose();
                writing.Dispose();
                break;
            case "in a savepoint":
                var savepoint = writing.CreateSavepoint();
                writing.CreateTree("in a savepoint");
                writing.Dispose();
                Record(() => savepoint.Rollback()).Should().BeOfType<ObjectDisposedException>();
                savepoint.Dispose();
                break;
            case "in a nested transaction":
                var nested = writing.BeginNested();
                writing.CreateTree("nested");
                writing.Dispose();
                Record(() => nested.Commit()).Should().BeOfType<ObjectDisposedException>();
                nested.Dispose();
                break;
            case "after a rollback to a savepoint":
                var outer = writing.CreateSavepoint();
                writing.CreateTree("rolled back");
                outer.Rollback();
                writing.CreateTree("after it");
                writing.Dispose();
                break;
            default:
                Task.Run(() => writing.Dispose(), CancellationToken.None).Wait(TestWait.Limit).Should().BeTrue();
                break;
        }
    }

    private IReadOnlyList<string> Names()
    {
        using var reading = _environment.BeginRead();
        return reading.GetTreeNames();
    }

    private static Exception? Record(Action action)
    {
        try
        {
            action();
            return null;
        }
        catch (Exception e)
        {
            return e;
        }
    }
}
