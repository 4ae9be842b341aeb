using Voron.IO;

namespace Voron.Tests.IO;

/// <summary>The garbage collector learns of native memory in large steps, and of as much less as it learned of more.</summary>
[Quick]
public sealed class MemoryAccountTests
{
    private const long Step = MemoryAccount.StepBytes;

    private long _reported;
    private int _calls;

    [Fact]
    public void Small_changes_are_counted_and_not_reported()
    {
        using var account = Make();
        for (var i = 0; i < 1000; i++)
            account.Add(i % 2 == 0 ? 1000 : -900);
        account.Bytes.Should().Be(50_000);
        account.PeakBytes.Should().Be(50_900);
        Report(account);
        _calls.Should().Be(0);
    }

    [Fact]
    public void Whole_steps_are_reported_and_withdrawn()
    {
        var account = Make();
        account.Add(5 * Step + 17);
        Report(account);
        _reported.Should().Be(5 * Step);
        account.Add(-2 * Step);
        Report(account);
        _reported.Should().Be(3 * Step);
        Report(account);
        _calls.Should().Be(2, "nothing has changed");
        account.Dispose();
        _reported.Should().Be(0);

        // The thread that frees the last piece may come after the close.
        account.Add(20 * Step);
        Report(account);
        _reported.Should().Be(0);
    }

    /// <summary>Whichever thread reports, and however late, the sum is right at the end.</summary>
    [Fact]
    public void Many_threads_add_and_the_sum_is_right()
    {
        var account = Make();
        Parallel.For(0, 8, thread =>
        {
            for (var i = 0; i < 2000; i++)
            {
                account.Add(Step / 4);
                account.Add(thread % 2 == 0 ? -Step / 8 : -Step / 4);
            }
        });
        account.Bytes.Should().Be(4L * 2000 * (Step / 8));
        TestWait.Until(() => Volatile.Read(ref _reported) == account.Bytes / Step * Step);
        account.Dispose();
        _reported.Should().Be(0);
    }

    [Fact]
    public void The_runtime_accepts_what_is_reported()
    {
        var account = new MemoryAccount();
        account.Add(3 * Step);
        Report(account);
        account.Add(-3 * Step);
        Report(account);
        account.Dispose();
        account.Dispose();
    }

    // Does what the thread pool will do, or has done.
    private static void Report(MemoryAccount account) => ((IThreadPoolWorkItem)account).Execute();

    private MemoryAccount Make() => new(
        bytes =>
        {
            bytes.Should().BePositive();
            _calls++;
            Volatile.Write(ref _reported, _reported + bytes);
        },
        bytes =>
        {
            bytes.Should().BePositive();
            _calls++;
            Volatile.Write(ref _reported, _reported - bytes);
        });
}
