namespace Voron.Benchmarks;

/// <summary>An error that the user can fix. It is printed as one line, without a stack trace.</summary>
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
