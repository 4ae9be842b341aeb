namespace Voron.Benchmarks;

/// <summary>Something the person at the keyboard can put right: printed as one line, without a stack trace.</summary>
internal sealed class BenchmarkException : Exception
{
    public BenchmarkException(string message)
        : base(message)
    {
    }

    public BenchmarkException(string message, Exception inner)
        : base(message, inner)
    {
    }
}
