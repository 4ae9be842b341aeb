namespace Voron.Torture.Crashes;

/// <summary>The engine has lost, torn or invented something.</summary>
internal sealed class CrashViolationException : Exception
{
    public CrashViolationException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }
}
