namespace Voron.Tests.Environments;

public sealed class FlusherThreadTests
{
    [Fact]
    public void What_is_thrown_on_the_flusher_s_thread_ends_writing_and_not_the_process()
    {
        using var flushed = new ManualResetEventSlim();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            FlushInterval = TimeSpan.FromMilliseconds(10),
            FlushObserver = _ =>
            {
                flushed.Set();
                throw new NotSupportedException("thrown by an observer");
            },
        });
        using (var writing = environment.BeginWrite())
        {
            writing.CreateTree("users").Put("a"u8, "b"u8);
            writing.Commit();
        }

        flushed.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken).Should().BeTrue();
        SpinWait.SpinUntil(() => environment.GetStatistics().IsPoisoned, TimeSpan.FromSeconds(30)).Should().BeTrue();
        environment.Invoking(opened => opened.BeginWrite()).Should().Throw<EnvironmentPoisonedException>()
            .WithInnerException<NotSupportedException>();
        using var reading = environment.BeginRead();
        reading.OpenTree("users").Contains("a"u8).Should().BeTrue();
    }
}
