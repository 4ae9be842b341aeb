namespace Voron.Tests;

/// <summary>Compares a text with the one that was accepted before and is kept in the repository.</summary>
internal static class AcceptedText
{
    /// <summary>
    /// The environment variable that, set to 1, makes the tests write the current text, so that the change can be
    /// reviewed before it is committed.
    /// </summary>
    public const string Variable = "VORON_ACCEPT";

    /// <param name="file">The accepted text, from the root of the repository.</param>
    /// <param name="actual">The text that the code produces now.</param>
    /// <param name="meaning">The meaning of a difference between the two.</param>
    public static void Check(string file, string actual, string meaning)
    {
        var path = SourceTree.File(file);
        actual = actual.ReplaceLineEndings("\n").TrimEnd('\n') + "\n";
        if (Environment.GetEnvironmentVariable(Variable) == "1")
        {
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            File.WriteAllText(path, actual);
            return;
        }

        var accepted = File.Exists(path) ? File.ReadAllText(path).ReplaceLineEndings("\n") : "";
        if (accepted == actual)
            return;
        var before = accepted.Split('\n');
        var now = actual.Split('\n');
        var gone = string.Join("\n", before.Except(now).Take(20).Select(line => "- " + line));
        var added = string.Join("\n", now.Except(before).Take(20).Select(line => "+ " + line));
        Assert.Fail($"{file} differs: {meaning} If it is meant, run this test with {Variable}=1 and commit the file.\n{gone}\n{added}");
    }
}
