namespace Voron.Tests;

/// <summary>Symbolic links, where the system makes them.</summary>
internal static class TestLinks
{
    /// <summary>Makes a link to a directory. Skips the test where there is none afterwards: Wine only says that it has made one.</summary>
    public static void ToDirectory(string link, string target)
    {
        try
        {
            Directory.CreateSymbolicLink(link, target);
        }
        catch (Exception e) when (OperatingSystem.IsWindows() && e is IOException or UnauthorizedAccessException)
        {
            // Windows lets few users make them.
        }

        Assert.SkipWhen(OperatingSystem.IsWindows() && new DirectoryInfo(link).LinkTarget == null, "the system makes no symbolic links");
    }
}
