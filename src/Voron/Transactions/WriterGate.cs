namespace Voron.Transactions;

/// <summary>One writer at a time. Bound to no thread: who takes it may hand it on.</summary>
internal sealed class WriterGate : IDisposable
{
    private readonly SemaphoreSlim _semaphore = new(1, 1);

    public void Enter(CancellationToken cancellationToken) => _semaphore.Wait(cancellationToken);

    public bool TryEnter(TimeSpan timeout, CancellationToken cancellationToken) => _semaphore.Wait(timeout, cancellationToken);

    public Task<bool> TryEnterAsync(TimeSpan timeout, CancellationToken cancellationToken) => _semaphore.WaitAsync(timeout, cancellationToken);

    public Task EnterAsync(CancellationToken cancellationToken) => _semaphore.WaitAsync(cancellationToken);

    public void Release() => _semaphore.Release();

    public void Dispose() => _semaphore.Dispose();
}
