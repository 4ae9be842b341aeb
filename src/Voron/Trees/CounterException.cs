namespace Voron.Trees;

/// <summary>Thrown when a counter cannot be changed. <see cref="Describe"/> creates the exception for the user, which names the tree.</summary>
internal sealed class CounterException : Exception
{
    private readonly string _key;
    private readonly string _fault;
    private readonly bool _isOverflow;

    private CounterException(string key, string fault, bool isOverflow)
        : base(fault)
    {
        _key = key;
        _fault = fault;
        _isOverflow = isOverflow;
    }

    public static CounterException OfLength(ReadOnlySpan<byte> key, long length, int expected) =>
        new(KeyText.Of(key), $"has {length} bytes, but a counter has {expected}", isOverflow: false);

    public static CounterException OfSum(ReadOnlySpan<byte> key, long count, long delta) =>
        new(KeyText.Of(key), $"is the counter {count}, which cannot be changed by {delta}", isOverflow: true);

    /// <param name="tree">The name of the tree.</param>
    /// <param name="outcome">A sentence about the outcome of the call.</param>
    public Exception Describe(string tree, string outcome)
    {
        var message = $"The value of key {_key} in tree '{tree}' {_fault}. {outcome}";
        return _isOverflow ? new OverflowException(message) : new InvalidOperationException(message);
    }
}
