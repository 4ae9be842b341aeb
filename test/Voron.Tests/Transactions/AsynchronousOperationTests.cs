using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// An <c>async void</c> method is an operation that the compiler cannot refuse: it fails and is undone if it has not finished when it returns,
/// and nothing that it does later ends the process or reaches a transaction.
/// </summary>
[SuppressMessage("Usage", "VSTHRD100", Justification = "The subject of these tests.")]
public sealed class AsynchronousOperationTests : IDisposable
{
    private readonly ListLogger _logger = new();
    private readonly StorageEnvironment _environment;
    private readonly TaskCompletionSource _mayGoOn = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource<Exception?> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public AsynchronousOperationTests() => _environment = StorageEnvironment.OpenInMemory(
        new StorageOptions
        {
            BackgroundFlush = false,
            LoggerFactory = OneLoggerFactory.Of(_logger),
            MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
        });

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _environment.Verify().Problems.Should().BeEmpty();
        _environment.Dispose();
    }

    [Fact]
    public async Task An_async_void_method_fails_alone_and_what_it_does_later_reaches_no_transaction()
    {
        Task before, operation, after;
        using (_environment.BeginWrite())
        {
            before = _environment.WriteAsync(writing => writing.CreateTree("before"), Cancellation).AsTask();
            operation = _environment.WriteAsync(WaitAndPut, Cancellation).AsTask();
            after = _environment.WriteAsync(writing => writing.CreateTree("after"), Cancellation).AsTask();
        }

        await FluentActions.Awaiting(() => operation.WaitAsync(TestWait.Limit, Cancellation))
            .Should().ThrowAsync<InvalidOperationException>().WithMessage("*async void*BeginWriteAsync*");
        await before.WaitAsync(TestWait.Limit, Cancellation);
        await after.WaitAsync(TestWait.Limit, Cancellation);
        Names().Should().Equal("after", "before");

        // The rest of the method runs, gets an exception, and passes it to the thread's context.
        _mayGoOn.SetResult();
        (await _ended.Task.WaitAsync(TestWait.Limit, Cancellation)).Should().BeOfType<ObjectDisposedException>();
        TestWait.Until(() => _logger.Warnings.Any());
        _logger.Warnings.Should().ContainSingle().Which.Should().Contain("asynchronous work").And.Contain("has ended");
        Names().Should().Equal("after", "before");
    }

    [Fact]
    public void A_blocking_caller_gets_the_same_error()
    {
        _environment.Invoking(environment => environment.Write(WaitAndPut)).Should().Throw<InvalidOperationException>().WithMessage("*async void*");
        _environment.Invoking(environment => environment.Write(new Action<WriteTransaction>(async writing =>
        {
            writing.CreateTree("lambda");
            await _mayGoOn.Task;
        }))).Should().Throw<InvalidOperationException>().WithMessage("*async void*");
        Names().Should().BeEmpty();
        _mayGoOn.SetResult();
    }

    [Fact]
    public void An_operation_fails_as_well_if_it_only_starts_such_a_method()
    {
        _environment.Invoking(environment => environment.Write(writing =>
        {
            writing.CreateTree("own");
            WaitAndPut(writing);
            return 5;
        })).Should().Throw<InvalidOperationException>().WithMessage("*async void*");
        _environment.Invoking(environment => environment.Write(writing =>
        {
            WaitAndPut(writing);
            throw new InvalidDataException("its own");
        })).Should().Throw<InvalidDataException>("the operation has an exception of its own");
        Names().Should().BeEmpty();
        _mayGoOn.SetResult();
    }

    [Fact]
    public async Task One_that_has_finished_when_it_returns_is_an_ordinary_operation()
    {
        await _environment.WriteAsync(Finish, Cancellation);
        Names().Should().Equal("finished");

        [SuppressMessage("Compiler", "CS1998", Justification = "It is asynchronous by name only.")]
        static async void Finish(WriteTransaction writing)
        {
            writing.CreateTree("finished");
            await Task.CompletedTask;
        }
    }

    [Fact]
    public async Task Its_exception_is_the_operation_s_if_it_throws_before_it_returns()
    {
        await FluentActions.Awaiting(() => _environment.WriteAsync(Throw, Cancellation).AsTask())
            .Should().ThrowAsync<InvalidDataException>().WithMessage("no");
        Names().Should().BeEmpty();
        await _environment.WriteAsync(writing => writing.CreateTree("next"), Cancellation);
        Names().Should().Equal("next");
        _logger.Warnings.Should().BeEmpty();

        static async void Throw(WriteTransaction writing)
        {
            writing.CreateTree("undone");
            await Task.CompletedTask;
            throw new InvalidDataException("no");
        }
    }

    [Fact]
    public async Task Late_failures_of_one_operation_do_not_touch_a_later_one()
    {
        using var isInside = new ManualResetEventSlim();
        _environment.Invoking(environment => environment.Write(WaitAndPut)).Should().Throw<InvalidOperationException>();
        var later = Task.Factory.StartNew(
            () => _environment.Write(writing =>
            {
                writing.CreateTree("later");
                isInside.Set();
                _ended.Task.Wait(TestWait.Limit).Should().BeTrue();
                TestWait.Until(() => _logger.Warnings.Any());
            }),
            Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        isInside.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        _mayGoOn.SetResult();
        await later.WaitAsync(TestWait.Limit, Cancellation);
        Names().Should().Equal("later");
    }

    // A task that nothing awaits does not announce itself. Its exception goes to the task, and its transaction has ended.
    [Fact]
    public async Task A_task_that_an_operation_starts_does_no_harm_either()
    {
        var started = Task.CompletedTask;
        await _environment.WriteAsync(
            writing =>
            {
                writing.CreateTree("kept");
                started = GoOn(writing);
            },
            Cancellation);
        _mayGoOn.SetResult();
        await FluentActions.Awaiting(() => started.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<ObjectDisposedException>();
        Names().Should().Equal("kept");

        async Task GoOn(WriteTransaction writing)
        {
            await _mayGoOn.Task;
            writing.CreateTree("too late");
        }
    }

    [Fact]
    public void An_operation_may_block_on_asynchronous_work_that_does_not_need_the_writer()
    {
        _environment.Write(writing =>
        {
            var text = Load().GetAwaiter().GetResult();
            writing.CreateTree(text);
        });
        Names().Should().Equal("loaded");

        static async Task<string> Load()
        {
            await Task.Yield();
            await Task.Delay(1);
            return "loaded";
        }
    }

    [Fact]
    public void The_thread_has_its_own_context_again_when_the_call_returns()
    {
        var own = new SynchronizationContext();
        var thread = new TestThread(() =>
        {
            SynchronizationContext.SetSynchronizationContext(own);
            SynchronizationContext? inside = null;
            _environment.Write(_ =>
            {
                inside = SynchronizationContext.Current;
                SynchronizationContext.SetSynchronizationContext(new SynchronizationContext());
            });
            inside.Should().NotBeNull().And.NotBeSameAs(own);
            SynchronizationContext.Current.Should().BeSameAs(own);
            _environment.Invoking(environment => environment.Write(_ => { throw new InvalidDataException(); }))
                .Should().Throw<InvalidDataException>();
            SynchronizationContext.Current.Should().BeSameAs(own);
        });
        thread.Join().Should().BeNull();
    }

    private async void WaitAndPut(WriteTransaction writing)
    {
        writing.CreateTree("async void");
        await _mayGoOn.Task;
        try
        {
            writing.OpenTree("async void").Put("late"u8, "late"u8);
            _ended.TrySetResult(null);
        }
        catch (Exception e)
        {
            _ended.TrySetResult(e);
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private IReadOnlyList<string> Names()
    {
        using var reading = _environment.BeginRead();
        return reading.GetTreeNames();
    }
}
