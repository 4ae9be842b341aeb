using System.Text;
using System.Text.RegularExpressions;

namespace Voron.Simulation.Harness;

/// <summary>
/// Computes the signature by which two failures count as the same: the error, without the numbers, names and contents of the particular case.
/// </summary>
internal static partial class FailureSignature
{
    /// <remarks>
    /// Suites wrap the exceptions that they find, and add the case. The signature leaves the case out and uses the innermost exception, which
    /// describes the error. If a message names several problems, the first one counts, because a shorter script has fewer of them.
    /// </remarks>
    public static string Of(Exception exception)
    {
        var types = new StringBuilder(exception.GetType().Name);
        var innermost = exception;
        while (innermost.InnerException is { } inner)
        {
            innermost = inner;
            types.Append(" of ").Append(inner.GetType().Name);
        }
        return $"{types}: {Plain(innermost.Message)}";
    }

    /// <summary>Returns whether the exception comes from this machine or this program, and gives no information about the engine.</summary>
    public static bool IsOfMachine(Exception exception)
    {
        // The exception that a suite wraps describes the error.
        while (exception is { InnerException: { } inner } and not TortureException && exception.GetType().Assembly == typeof(Suite).Assembly)
            exception = inner;
        return exception is TortureException or UnauthorizedAccessException
            || (exception is IOException && exception.GetType().Assembly != typeof(StorageEnvironment).Assembly);
    }

    private static string Plain(string message)
    {
        var first = message.Split(["\n", "; ", " / "], 2, StringSplitOptions.None)[0].Trim();
        var plain = Numbers().Replace(Quoted().Replace(first, "#"), "#");
        return Lists().Replace(plain, "#");
    }

    [GeneratedRegex("'[^']*'|\"[^\"]*\"")]
    private static partial Regex Quoted();

    // A word with a digit in it is a number or a generated name.
    [GeneratedRegex(@"[\w.\-]*\d[\w.\-]*")]
    private static partial Regex Numbers();

    [GeneratedRegex(@"#([,/ ]+#)+")]
    private static partial Regex Lists();
}
