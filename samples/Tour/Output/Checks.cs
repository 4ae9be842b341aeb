namespace Tour.Output;

/// <summary>What the tour has checked, and what was wrong.</summary>
internal sealed class Checks(Screen screen)
{
    private readonly List<string> _failed = [];

    public int Passed { get; private set; }

    /// <summary>What should have been true and was not.</summary>
    public IReadOnlyList<string> Failed => _failed;

    /// <summary>Says that something is true, and notes if it is not.</summary>
    public void That(bool isTrue, string what)
    {
        screen.Check(isTrue, what);
        if (isTrue)
            Passed++;
        else
            _failed.Add(what);
    }
}
