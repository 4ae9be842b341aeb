using System.Text;
using System.Text.RegularExpressions;

namespace Voron.Torture.Harness;

/// <summary>What makes two failures the same: what went wrong, without the numbers, names and contents that each case has of its own.</summary>
internal static partial class FailureSignature
{
    /// <remarks>
    /// Suites wrap what they find, and say in which case: that is left out, and the innermost exception tells what it was. Of several
    /// problems in one message the first counts, since a shorter script has fewer of them.
    /// </remarks>
    public static string Of(Exception exception)
    {
        var types = new StringBuilder(exception.GetType().Name);
        Exception innermost = exception;
        while (innermost.InnerException is { } inner)
        {
            innermost = inner;
            types.Append(" of ").Append(inner.GetType().Name);
        }
        return $"{types}: {Plain(innermost.Message)}";
    }

    /// <summary>Something of this machine, or of this program, that says nothing about the engine.</summary>
    public static bool IsOfMachine(Exception exception)
    {
        // What a suite wraps says what it was.
        while (exception is { InnerException: { } inner } and not TortureException && exception.GetType().Assembly == typeof(Suite).Assembly)
            exception = inner;
        return exception is TortureException or UnauthorizedAccessException
            || (exception is IOException && exception.GetType().Assembly != typeof(StorageEnvironment).Assembly);
    }

    private static string Plain(string message)
    {
        string first = message.Split(["\n", "; ", " / "], 2, StringSplitOptions.None)[0].Trim();
        string plain = Numbers().Replace(Quoted().Replace(first, "#"), "#");
        return Lists().Replace(plain, "#");
    }

    [GeneratedRegex("'[^']*'|\"[^\"]*\"")]
    private static partial Regex Quoted();

    // A word with a digit in it is a number, or a name that was made up.
    [GeneratedRegex(@"[\w.\-]*\d[\w.\-]*")]
    private static partial Regex Numbers();

    [GeneratedRegex(@"#([,/ ]+#)+")]
    private static partial Regex Lists();
}
