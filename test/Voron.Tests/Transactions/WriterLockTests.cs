using System.Diagnostics;
using Voron.Transactions;

namespace Voron.Tests.Transactions;

/// <summary>
/// The queue for the writer, with threads that block and callers that do not. A semaphore of the framework let blocked threads starve
/// behind asynchronous callers when they checked again from time to time, and lost the writer to an interruption when they did not.
/// </summary>
[Quick]
public sealed class WriterLockTests
{
    // A starving caller would have none. On a crowded machine, dozens pass before its thread is in the queue.
    private const int MostTurns = 1_000;

    private readonly WriterLock _gate = new();

    [Fact]
    public async Task A_blocked_caller_has_its_turn_among_asynchronous_ones()
    {
        using var turns = new SemaphoreSlim(0);
        var isOver = false;
        var served = 0;
        var load = Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
        {
            while (!Volatile.Read(ref isOver))
            {
                await _gate.EnterAsync(TestContext.Current.CancellationToken);
                await turns.WaitAsync(TestContext.Current.CancellationToken);
                Interlocked.Increment(ref served);
                _gate.Release();
            }
        })).ToList();
        turns.Release(8);
        await TestWait.UntilAsync(() => Volatile.Read(ref served) == 8 && turns.CurrentCount == 0);

        // The holder waits for its turn, so that the queue does not move before the thread is part of it.
        var passed = -1;
        var thread = new TestThread(() =>
        {
            if (!_gate.TryEnter(TestWait.Limit, CancellationToken.None))
                return;
            passed = Volatile.Read(ref served) - 8;
            _gate.Release();
        });
        thread.WaitUntilBlockedOrEnded();
        for (var given = 9; !thread.HasEnded && given < MostTurns; given++)
        {
            turns.Release();
            await TestWait.UntilAsync(() => Volatile.Read(ref served) >= given || thread.HasEnded);
        }

        thread.Join().Should().BeNull();
        Volatile.Write(ref isOver, true);
        turns.Release(1_000);
        await Task.WhenAll(load).WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
        passed.Should().BeInRange(1, MostTurns, "eight were before it");
    }

    [Fact]
    public void A_blocked_caller_has_its_turn_though_others_never_wait()
    {
        _gate.Enter(CancellationToken.None);
        var isIn = false;
        var thread = new TestThread(() =>
        {
            isIn = _gate.TryEnter(TestWait.Limit, CancellationToken.None);
            _gate.Release();
        });
        thread.WaitUntilBlockedOrEnded();

        // Enters again at once each time, as a thread does that commits in a loop.
        TestWait.WorkUntil(() => thread.HasEnded, () =>
        {
            _gate.Release();
            _gate.Enter(CancellationToken.None);
        });

        _gate.Release();
        thread.Join().Should().BeNull();
        isIn.Should().BeTrue();
    }

    /// <summary>The thread was interrupted, but its place in the queue stayed, and got the writer when its turn came.</summary>
    [Fact]
    public async Task An_interrupted_caller_behind_an_asynchronous_one_takes_no_writer_away()
    {
        for (var round = 0; round < 20; round++)
        {
            _gate.Enter(CancellationToken.None);
            var second = _gate.EnterAsync(TestContext.Current.CancellationToken);
            var third = new TestThread(() => _gate.Enter(CancellationToken.None));
            third.WaitUntilBlockedOrEnded();
            third.Interrupt();
            third.Join().Should().BeOfType<ThreadInterruptedException>();
            _gate.Release();
            await second.WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
            _gate.Release();
            ShouldBeFree();
        }
    }

    [Fact]
    public async Task Waits_end_by_time_and_by_cancellation_and_leave_the_queue()
    {
        _gate.Enter(CancellationToken.None);
        _gate.TryEnter(TimeSpan.FromMilliseconds(20), CancellationToken.None).Should().BeFalse();
        using var cancellation = new CancellationTokenSource();
        var asynchronous = _gate.EnterAsync(cancellation.Token);
        Exception? blocked = null;
        var thread = new TestThread(() => blocked = Record.Exception(() => _gate.TryEnter(TestWait.Limit, cancellation.Token)));
        thread.WaitUntilBlockedOrEnded();
        await cancellation.CancelAsync();
        thread.Join().Should().BeNull();
        blocked.Should().BeAssignableTo<OperationCanceledException>();
        (await Record.ExceptionAsync(() => asynchronous)).Should().BeAssignableTo<OperationCanceledException>();
        FluentActions.Invoking(() => _gate.TryEnter(TimeSpan.Zero, cancellation.Token)).Should().Throw<OperationCanceledException>();
        _gate.Release();
        ShouldBeFree();
        _gate.Invoking(gate => gate.Release()).Should().Throw<UnreachableException>();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task One_is_in_at_a_time_and_none_is_forgotten_whatever_ends_the_waits(int seed)
    {
        var inside = 0;
        var served = 0;
        var broken = 0;
        var random = new Random(seed);
        var seeds = Enumerable.Range(0, 8).Select(_ => random.Next()).ToList();
        var isOver = false;
        var threads = seeds.Take(4).Select(own => new TestThread(() => Block(new Random(own)))).ToList();
        var tasks = seeds.Skip(4).Select(own => Task.Run(() => WaitAsync(new Random(own)))).ToList();
        TestWait.WorkUntil(() => Volatile.Read(ref served) >= SuiteShare.Rounds(2_000), () =>
        {
            threads[random.Next(threads.Count)].Interrupt();
            Thread.SpinWait(random.Next(50_000));
        });
        Volatile.Write(ref isOver, true);
        foreach (var thread in threads)
            thread.Join().Should().BeNull();
        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, TestContext.Current.CancellationToken);
        broken.Should().Be(0);
        ShouldBeFree();

        void Block(Random own)
        {
            while (!Volatile.Read(ref isOver))
            {
                try
                {
                    using var cancellation = new CancellationTokenSource();
                    if (own.Next(4) == 0)
                        cancellation.CancelAfter(own.Next(3));
                    if (_gate.TryEnter(own.Next(4) == 0 ? TimeSpan.FromMilliseconds(own.Next(5)) : Timeout.InfiniteTimeSpan, cancellation.Token))
                        Use(own);
                }
                catch (Exception e) when (e is ThreadInterruptedException or OperationCanceledException)
                {
                }
            }
        }

        async Task WaitAsync(Random own)
        {
            while (!Volatile.Read(ref isOver))
            {
                try
                {
                    using var cancellation = new CancellationTokenSource();
                    if (own.Next(4) == 0)
                        cancellation.CancelAfter(own.Next(3));
                    await _gate.EnterAsync(cancellation.Token);
                    Use(own);
                }
                catch (OperationCanceledException)
                {
                }
            }
        }

        void Use(Random own)
        {
            if (Interlocked.Increment(ref inside) > 1)
                Interlocked.Increment(ref broken);
            Thread.SpinWait(own.Next(2_000));
            Interlocked.Increment(ref served);
            Interlocked.Decrement(ref inside);
            _gate.Release();
        }
    }

    private void ShouldBeFree()
    {
        _gate.TryEnter(TimeSpan.Zero, CancellationToken.None).Should().BeTrue();
        _gate.Release();
    }
}
