namespace Voron.Tests;

/// <summary>Calls a delegate on the thread that reports progress. The class of the framework calls it on another one, later.</summary>
internal sealed class SynchronousProgress<T>(Action<T> report) : IProgress<T>
{
    public void Report(T value) => report(value);
}
